import { known, SIGNAL } from '../base/known-options.ts';
import { randomKey } from './random-key.ts';
import type {
  ApiDraft,
  ApiScene,
  ApiVersion,
  NewApiScene,
  RenderSceneRequest,
  SavedApiScene,
  ScenePage,
  WholeApiDraft,
  WholeApiVersion,
} from './scene-wire.ts';
import { sentRequest } from './sent-request.ts';

/** Sends a request to the tools API. */
type Send = (path: string, signal: AbortSignal | undefined, init?: RequestInit) => Promise<Response>;

interface Options {
  /** Aborts the request and its repetitions. */
  signal?: AbortSignal;
}

const PAGE = { limit: true, cursor: true } as const;

/**
 * The scenes that the account keeps: documents with drafts and versions.
 *
 * ```ts
 * const { sceneId, revision } = await client.scenes.create({ name: 'Intro', className: 'Intro', code });
 * const saved = await client.scenes.save(sceneId, { revision, code: changed });
 * const { job } = await client.scenes.render(sceneId);
 * ```
 */
export class ClientScenes {
  readonly #send: Send;

  /** @internal */
  constructor(send: Send) {
    this.#send = send;
  }

  /** Those that were changed last first. `text`: only those with words that begin so, in name, class name and code. */
  async list(
    query: { text?: string; limit?: number; cursor?: string } = {},
    options: Options = {},
  ): Promise<ScenePage> {
    const { signal } = known('scenes.list', options, SIGNAL);
    return this.#json(`/scenes${queryOf(known('scenes.list', query, { text: true, ...PAGE }))}`, signal);
  }

  /** Adds a scene. After a network error there may be two: list the scenes then. */
  async create(scene: NewApiScene, options: Options = {}): Promise<ApiScene> {
    const { signal } = known('scenes.create', options, SIGNAL);
    return this.#json('/scenes', signal, sentRequest(scene));
  }

  /** Error: status 404 when there is no such scene. */
  async get(sceneId: string, options: Options = {}): Promise<ApiScene> {
    const { signal } = known('scenes.get', options, SIGNAL);
    return this.#json(pathOf(sceneId), signal);
  }

  /**
   * Saves a draft. Error: status 409 when the scene was saved elsewhere since that revision: read it, bring both together, and
   * save with its revision.
   */
  async save(sceneId: string, changes: SavedApiScene, options: Options = {}): Promise<ApiScene> {
    const { signal } = known('scenes.save', options, SIGNAL);
    return this.#post(`${pathOf(sceneId)}/save`, changes, signal);
  }

  /** Makes an earlier draft or a version the current draft. Errors: status 404; 409 as of {@link save}. */
  async restore(
    sceneId: string,
    from: { revision: number; draft?: number; version?: number },
    options: Options = {},
  ): Promise<ApiScene> {
    const { signal } = known('scenes.restore', options, SIGNAL);
    return this.#post(`${pathOf(sceneId)}/restore`, from, signal);
  }

  /** Gives a scene another name. */
  async rename(sceneId: string, name: string, options: Options = {}): Promise<ApiScene> {
    const { signal } = known('scenes.rename', options, SIGNAL);
    return this.#post(`${pathOf(sceneId)}/rename`, { name }, signal);
  }

  /** Adds a scene with the current draft of another one. */
  async duplicate(sceneId: string, options: Options & { name?: string } = {}): Promise<ApiScene> {
    const { signal, ...body } = known('scenes.duplicate', options, { signal: true, name: true });
    return this.#post(`${pathOf(sceneId)}/duplicate`, body, signal);
  }

  /** Removes a scene; `forgetJobs`: with the content of the jobs of its versions. Errors: status 404; 409 while one runs. */
  async remove(sceneId: string, options: Options & { forgetJobs?: boolean } = {}): Promise<void> {
    const { signal, forgetJobs = false } = known('scenes.remove', options, {
      signal: true,
      forgetJobs: true,
    });
    await this.#send(`${pathOf(sceneId)}?forgetJobs=${forgetJobs}`, signal, { method: 'DELETE' });
  }

  /**
   * Enqueues a render of the current draft as the next version. `idempotencyKey`: a repeated request adds no second one;
   * default: a random one for each call. Error: status 409 when the scene was saved elsewhere since `revision`.
   */
  async render(
    sceneId: string,
    request: RenderSceneRequest = {},
    options: Options & { idempotencyKey?: string } = {},
  ): Promise<ApiVersion> {
    const { signal, idempotencyKey = randomKey() } = known('scenes.render', options, {
      signal: true,
      idempotencyKey: true,
    });
    const init = sentRequest(request, { 'idempotency-key': idempotencyKey });
    return this.#json(`${pathOf(sceneId)}/render`, signal, init);
  }

  /** A page of versions, the newest first; `next` is null at the end. */
  async versions(
    sceneId: string,
    query: { limit?: number; cursor?: number } = {},
    options: Options = {},
  ): Promise<{ versions: ApiVersion[]; next: number | null }> {
    const { signal } = known('scenes.versions', options, SIGNAL);
    return this.#json(`${pathOf(sceneId)}/versions${queryOf(known('scenes.versions', query, PAGE))}`, signal);
  }

  /** A version with its code. Error: status 404 when there is none. */
  async version(sceneId: string, version: number, options: Options = {}): Promise<WholeApiVersion> {
    const { signal } = known('scenes.version', options, SIGNAL);
    return this.#json(`${pathOf(sceneId)}/versions/${version}`, signal);
  }

  /** The drafts that are kept, the newest first. */
  async drafts(sceneId: string, options: Options = {}): Promise<ApiDraft[]> {
    const { signal } = known('scenes.drafts', options, SIGNAL);
    return (await this.#json<{ drafts: ApiDraft[] }>(`${pathOf(sceneId)}/drafts`, signal)).drafts;
  }

  /** A draft with its code. Error: status 404 when it is not kept any more. */
  async draft(sceneId: string, revision: number, options: Options = {}): Promise<WholeApiDraft> {
    const { signal } = known('scenes.draft', options, SIGNAL);
    return this.#json(`${pathOf(sceneId)}/drafts/${revision}`, signal);
  }

  /** A ZIP archive of all scenes; the response has the bytes as a stream, `blob()` or `bytes()`. */
  async archive(options: Options = {}): Promise<Response> {
    const { signal } = known('scenes.archive', options, SIGNAL);
    return this.#send('/scenes.zip', signal);
  }

  #post<Body>(path: string, body: object, signal: AbortSignal | undefined): Promise<Body> {
    return this.#json(path, signal, sentRequest(body));
  }

  async #json<Body>(path: string, signal: AbortSignal | undefined, init?: RequestInit): Promise<Body> {
    return (await (await this.#send(path, signal, init)).json()) as Body;
  }
}

function pathOf(sceneId: string): string {
  return `/scenes/${encodeURIComponent(sceneId)}`;
}

function queryOf(query: object): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return given.size === 0 ? '' : `?${given}`;
}
