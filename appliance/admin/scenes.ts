import { Readable } from 'node:stream';
import type { Accounts, RenderService } from '../../lib/index.ts';
import type {
  SaveScene,
  Scene,
  SceneSettings,
  SceneVersion,
  Storage,
  WholeDraft,
} from '../../lib/internal.ts';
import type { AdministrationParts } from './administration.ts';
import { check, idempotencyKey, listLimit, placeInList } from './administration-requests.ts';
import { jobInfo } from './administration-views.ts';
import type {
  DraftList,
  SceneDetails,
  SceneInfo,
  SceneOfJob,
  ScenePage,
  SceneUse,
  VersionDetails,
  VersionInfo,
  VersionPage,
} from './scene-views.ts';

/** Names a scene. */
interface Named {
  sceneId: string;
}

/** The scenes of accounts, with their drafts and versions. Requests and answers are plain data. */
export class SceneAdministration {
  readonly #accounts: Accounts;
  readonly #service: RenderService;
  readonly #storage: Storage;
  readonly #assetUrl: () => string;

  constructor({
    accounts,
    service,
    place,
    assetUrl,
  }: Pick<AdministrationParts, 'accounts' | 'service' | 'place' | 'assetUrl'>) {
    this.#accounts = accounts;
    this.#service = service;
    this.#storage = place.storage;
    this.#assetUrl = assetUrl;
  }

  /**
   * Those that were changed last first. `text`: only those with words that begin so, in name, class name and code. `after`: the
   * `next` of the previous page.
   */
  async list(request: {
    account: string;
    text?: string | undefined;
    limit?: number | undefined;
    after?: string | undefined;
  }): Promise<ScenePage> {
    const limit = check(listLimit, request.limit);
    const after = check(placeInList, request.after);
    const { accountId, email } = await this.#accounts.find(request.account);
    const { scenes, next } = await this.#service.scenes.list({
      ...{ owner: accountId, limit },
      ...(request.text !== undefined && { text: request.text }),
      ...(after !== undefined && { after }),
    });
    const listed = scenes.map(async ({ owner: _, lastVersion, ...scene }): Promise<SceneInfo> => {
      const [last] = lastVersion ? await this.#service.scenes.versions(scene.sceneId, { limit: 1 }) : [];
      return { ...scene, account: email, last: last ? this.#versionInfo(last, email) : null };
    });
    return { scenes: await Promise.all(listed), next };
  }

  /** What the scenes of an account take of its limits. */
  async usage({ account }: { account: string }): Promise<SceneUse> {
    const { accountId } = await this.#accounts.find(account);
    const { scenes, bytes, mostScenes, mostBytes } = await this.#service.scenes.usage(accountId);
    return { scenes, bytes, mostScenes: finite(mostScenes), mostBytes: finite(mostBytes) };
  }

  /** Error: `not_found`. */
  async show({ sceneId }: Named): Promise<SceneDetails> {
    return this.#details(await this.#service.scenes.get(String(sceneId)));
  }

  /** The scene that a job is a version of; null for other jobs. */
  async ofJob({ jobId }: { jobId: string }): Promise<SceneOfJob | null> {
    const version = await this.#storage.scenes.versionOf(jobId);
    const scene = version && (await this.#storage.scenes.get(version.sceneId));
    return scene ? { sceneId: scene.sceneId, name: scene.name, version: version.number } : null;
  }

  /** The current draft and the earlier ones, without their texts. Error: `not_found`. */
  async drafts({ sceneId }: Named): Promise<DraftList> {
    return { drafts: await this.#service.scenes.drafts(String(sceneId)) };
  }

  /** Error: `not_found`, also when the draft was displaced by later ones. */
  async draft({ sceneId, revision }: Named & { revision: number }): Promise<WholeDraft> {
    return this.#service.scenes.draft(String(sceneId), revision);
  }

  /** The newest first. `before`: the `next` of the previous page. Error: `not_found`. */
  async versions(
    request: Named & { limit?: number | undefined; before?: number | undefined },
  ): Promise<VersionPage> {
    const { before } = request;
    const limit = check(listLimit, request.limit);
    const { sceneId, account } = await this.show(request);
    const found = await this.#service.scenes.versions(sceneId, {
      limit,
      ...(before !== undefined && { before }),
    });
    const next = found.length === limit ? (found.at(-1)?.version ?? null) : null;
    return { versions: found.map((version) => this.#versionInfo(version, account)), next };
  }

  /** A version with its code. Error: `not_found`. */
  async version({ sceneId, version }: Named & { version: number }): Promise<VersionDetails> {
    const { account } = await this.show({ sceneId });
    const found = await this.#service.scenes.version(sceneId, version);
    return { ...this.#versionInfo(found, account), code: found.code };
  }

  /** A ZIP archive of all scenes of an account, which the caller reads to its end or destroys. */
  async archive({ account }: { account: string }): Promise<{ stream: Readable }> {
    const { accountId } = await this.#accounts.find(account);
    return { stream: Readable.from(this.#service.scenes.archive(accountId), { objectMode: false }) };
  }

  /** Keeps a scene. Errors: those of {@link Scenes.create}. */
  async create({
    account,
    ...scene
  }: {
    account: string;
    name: string;
    className?: string;
    code?: string;
    settings?: SceneSettings;
    jobId?: string;
  }): Promise<SceneDetails> {
    const { accountId } = await this.#accounts.find(account);
    return this.#details(await this.#service.scenes.create({ ...scene, owner: accountId }));
  }

  /** Saves a draft, unless the scene was saved elsewhere since its revision. Errors: those of {@link Scenes.save}. */
  async save({ sceneId, ...draft }: Named & Omit<SaveScene, 'owner'>): Promise<SceneDetails> {
    return this.#details(await this.#service.scenes.save(String(sceneId), draft));
  }

  /** Makes an earlier draft or a version the current draft. Errors: those of {@link Scenes.restore}. */
  async restore({
    sceneId,
    ...from
  }: Named & { revision: number; draft?: number; version?: number }): Promise<SceneDetails> {
    return this.#details(await this.#service.scenes.restore(String(sceneId), from));
  }

  /** Errors: those of {@link Scenes.rename}. */
  async rename({ sceneId, name }: Named & { name: string }): Promise<SceneDetails> {
    return this.#details(await this.#service.scenes.rename(String(sceneId), { name: String(name) }));
  }

  /** Adds a scene with the current draft of another. Errors: those of {@link Scenes.duplicate}. */
  async duplicate({ sceneId, name }: Named & { name?: string }): Promise<SceneDetails> {
    const options = name === undefined ? {} : { name };
    return this.#details(await this.#service.scenes.duplicate(String(sceneId), options));
  }

  /** Removes a scene with its drafts and versions. Errors: those of {@link Scenes.remove}. */
  async remove({ sceneId, forgetJobs = false }: Named & { forgetJobs?: boolean }): Promise<SceneDetails> {
    const scene = await this.show({ sceneId });
    await this.#service.scenes.remove(scene.sceneId, { forgetJobs });
    return scene;
  }

  /** Renders the current draft as the next version. Errors: those of {@link Scenes.render}. */
  async render({
    sceneId,
    revision,
    idempotencyKey: key,
  }: Named & { revision?: number; idempotencyKey?: string | undefined }): Promise<VersionInfo> {
    const { account } = await this.show({ sceneId });
    const version = await this.#service.scenes.render(sceneId, {
      ...(revision !== undefined && { revision }),
      ...(key !== undefined && { idempotency: { key: check(idempotencyKey, key) as string } }),
    });
    return this.#versionInfo(version, account);
  }

  #versionInfo({ job, ...version }: SceneVersion, account: string): VersionInfo {
    const progress = job.status === 'running' ? this.#service.progress(job.jobId) : undefined;
    return { ...version, job: jobInfo(job, account, { assetUrl: this.#assetUrl(), progress }) };
  }

  async #details({ owner, ...scene }: Scene): Promise<SceneDetails> {
    const account = await this.#accounts.find(owner).catch(() => undefined);
    return { ...scene, account: account?.email ?? owner };
  }
}

function finite(limit: number): number | null {
  return Number.isFinite(limit) ? limit : null;
}
