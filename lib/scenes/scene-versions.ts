import { hash } from 'node:crypto';
import { checked } from '../base/checked.ts';
import { ScenepressError } from '../base/errors.ts';
import { enqueueOne } from '../jobs/accept/enqueue.ts';
import { newJobOf } from '../jobs/accept/new-job.ts';
import type { SceneRecord, VersionRecord } from '../model/scene.ts';
import { findJob } from '../storage/find-job.ts';
import { RENDER, SCOPE, VERSIONS } from './scene-options.ts';
import { foundScene, noScene, type ScenesParts, savedElsewhere } from './scene-parts.ts';
import type { RenderScene, SceneScope, VersionQuery } from './scene-requests.ts';
import { type SceneVersion, versionOf, type WholeVersion } from './scene-views.ts';
import { validSettings } from './valid-scene.ts';

const DEFAULT_LIMIT = 50;

/** The versions of scenes: their renders. */
export abstract class SceneVersions {
  readonly #parts: ScenesParts;
  readonly #assertWorking: () => void;

  /** @internal */
  constructor(parts: ScenesParts, assertWorking: () => void) {
    this.#parts = parts;
    this.#assertWorking = assertWorking;
  }

  /**
   * Enqueues a render of the current draft, as the next version of the scene: both commit together. The title of its job is the
   * name of the scene. Errors: those of {@link RenderService.enqueue}; `not_found` when there is no such scene; `invalid_request`
   * without code or class name; `conflict` when the scene was saved elsewhere since `revision`.
   */
  async render(sceneId: string, options: RenderScene = {}): Promise<SceneVersion> {
    const { owner, revision, changes, signal, ...request } = checked('scenes.render', options, RENDER);
    this.#assertWorking();
    const { storage } = this.#parts;
    const scene = await foundScene(storage, sceneId, owner);
    const draft = await storage.scenes.draft(sceneId);
    if (!draft?.className) {
      const message = 'No class is chosen in this scene. Save the name of the class to render.';
      throw new ScenepressError('invalid_request', message);
    }
    const differs = changes !== undefined && Object.keys(validSettings(changes)).length > 0;
    const idempotency = request.idempotency && {
      fingerprint: fingerprintOf({ sceneId, revision, changes, ...request }),
      ...request.idempotency,
    };
    if (
      revision !== undefined &&
      revision !== draft.revision &&
      !(await this.#isRepeated(scene, idempotency))
    )
      throw savedElsewhere(scene, revision);
    const newJob = newJobOf({
      ...{ owner: scene.owner, code: draft.code, className: draft.className, title: scene.name },
      ...draft.settings,
      ...changes,
      ...request,
      ...(idempotency && { idempotency }),
    });
    const ofScene = { sceneId, revision: differs ? null : draft.revision };
    const { jobId } = await enqueueOne(this.#parts, { ...newJob, scene: ofScene }, signal);
    const version = await storage.scenes.versionOf(jobId);
    if (!version) throw noScene();
    return this.#shown(version);
  }

  /** Versions of a scene, the newest first. Error: `not_found` when there is no such scene. */
  async versions(sceneId: string, query: VersionQuery = {}): Promise<SceneVersion[]> {
    const { owner, before, limit = DEFAULT_LIMIT } = checked('scenes.versions', query, VERSIONS);
    const { storage } = this.#parts;
    await foundScene(storage, sceneId, owner);
    const versions = await storage.scenes.versions({ sceneId, before, limit });
    const expired = new Set(await storage.scenes.expired(versions.map(({ jobId }) => jobId)));
    const shown: SceneVersion[] = [];
    for (const version of versions) shown.push(await this.#shown(version, expired));
    return shown;
  }

  /** A version with its code. Errors: those of {@link versions}; `not_found` also when there is no such version. */
  async version(sceneId: string, version: number, scope: SceneScope = {}): Promise<WholeVersion> {
    const { owner } = checked('scenes.version', scope, SCOPE);
    const { storage } = this.#parts;
    await foundScene(storage, sceneId, owner);
    const found = Number.isSafeInteger(version) ? await storage.scenes.version(sceneId, version) : undefined;
    if (!found) throw new ScenepressError('not_found', `There is no version ${version} of this scene.`);
    const code = (await storage.readSource(found.jobId)) ?? null;
    return { ...(await this.#shown(found)), code };
  }

  async #shown(version: VersionRecord, expired?: ReadonlySet<string>): Promise<SceneVersion> {
    const { storage } = this.#parts;
    const known = expired ?? new Set(await storage.scenes.expired([version.jobId]));
    return versionOf(version, await findJob(storage, version.jobId), { isExpired: known.has(version.jobId) });
  }

  /** Whether a request was made before: then its first job is returned, though the draft has changed. */
  async #isRepeated({ owner }: SceneRecord, idempotency: { key: string } | undefined): Promise<boolean> {
    if (typeof idempotency?.key !== 'string') return false;
    const { storage } = this.#parts;
    const found = await storage.transaction((tx) => storage.getIdempotentRequest(owner, idempotency.key, tx));
    return found !== undefined;
  }
}

/** Equal for equal requests, also if the draft has changed meanwhile. */
function fingerprintOf({
  traceContext: _,
  keyId: __,
  idempotency: ___,
  ...asked
}: { sceneId: string } & { [Name in keyof RenderScene]: RenderScene[Name] | undefined }): string {
  return hash('sha256', JSON.stringify(asked));
}
