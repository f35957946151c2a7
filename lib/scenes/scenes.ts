import { isDeepStrictEqual } from 'node:util';
import { checked } from '../base/checked.ts';
import { ScenepressError } from '../base/errors.ts';
import { assertEnded, forgetJob } from '../jobs/end/forget.ts';
import { queryWords } from '../jobs/search/words.ts';
import { SortableIds } from '../model/ids.ts';
import type { JobRecord } from '../model/job.ts';
import { newOwner } from '../model/owner.ts';
import type { DraftRecord, SceneRecord, SceneSettings, SceneUsage, VersionRecord } from '../model/scene.ts';
import { findJob } from '../storage/find-job.ts';
import type { ScenePlace } from '../storage/scene-store.ts';
import type { Transaction } from '../storage/transaction.ts';
import { displacedBy } from './draft-history.ts';
import { addScene } from './new-scene.ts';
import { sceneArchive } from './scene-archive.ts';
import type { SceneLimits } from './scene-limits.ts';
import { DUPLICATE, NEW, QUERY, REMOVE, RENAME, RESTORE, SAVE, SCOPE } from './scene-options.ts';
import { foundScene, noScene, type ScenesParts, savedElsewhere } from './scene-parts.ts';
import type {
  DuplicateScene,
  NewScene,
  RemoveScene,
  RenameScene,
  RestoreScene,
  SaveScene,
  SceneQuery,
  SceneScope,
} from './scene-requests.ts';
import { SceneVersions } from './scene-versions.ts';
import {
  draftOf,
  type Scene,
  type SceneDraft,
  type SceneSummary,
  sceneOf,
  settingsOfJob,
  summaryOf,
  type WholeDraft,
  wholeDraftOf,
} from './scene-views.ts';
import { type DraftTexts, sizeOf, validDraft, validName } from './valid-scene.ts';

const DEFAULT_LIMIT = 50;
const PAGE = 100;
const EMPTY: DraftTexts = { className: '', code: '', settings: {} };

/**
 * The scenes of owners: named documents with code and settings. Each save is a draft, each render a version.
 *
 * ```ts
 * const { sceneId, revision } = await service.scenes.create({ owner: 'ada', name: 'Intro' });
 * await service.scenes.save(sceneId, { revision, className: 'Intro', code });
 * const { job } = await service.scenes.render(sceneId);
 * ```
 */
export class Scenes extends SceneVersions {
  readonly #parts: ScenesParts;
  readonly #ids: SortableIds;

  /** @internal */
  constructor(parts: ScenesParts, assertWorking: () => void) {
    super(parts, assertWorking);
    this.#parts = parts;
    this.#ids = new SortableIds(parts.clock, parts.random);
  }

  /**
   * Adds a scene. Errors: `invalid_request`; `not_found` when the owner has no such job, or its code was forgotten; `conflict`
   * when the job is a version of a scene; `too_much_stored` beyond the owner's limits; `owner_refused`, `storage_full`.
   */
  async create(given: NewScene): Promise<Scene> {
    const { owner, name, jobId, ...texts } = checked('scenes.create', given, NEW);
    newOwner(owner);
    if (jobId === undefined) return this.#add(owner, validName(name), validDraft({ ...EMPTY, ...texts }));
    const ofJob = await this.#textsOfJob(await findJob(this.#parts.storage, jobId, owner), {});
    const draft = validDraft({ ...ofJob, ...texts });
    const revision = isDeepStrictEqual(draft, validDraft(ofJob)) ? 1 : null;
    const { sceneId } = await this.#add(owner, validName(name), draft, { jobId, revision });
    return this.get(sceneId);
  }

  /** Error: `not_found` when there is no such scene, it has been removed, or it has another owner. */
  async get(sceneId: string, scope: SceneScope = {}): Promise<Scene> {
    const { owner } = checked('scenes.get', scope, SCOPE);
    return this.#shown(await foundScene(this.#parts.storage, sceneId, owner));
  }

  /**
   * A page of an owner's scenes, those that were changed last first; `next` is null at the end. `text`: only those with words that
   * begin so, in name, class name and code, without case and accents. Error: `invalid_request`.
   */
  async list(query: SceneQuery): Promise<{ scenes: SceneSummary[]; next: string | null }> {
    const { owner, text = '', after, limit = DEFAULT_LIMIT } = checked('scenes.list', query, QUERY);
    const place = after === undefined ? undefined : placeOf(after);
    const { storage, sceneSearches } = this.#parts;
    const words = queryWords(text);
    const page = { owner, after: place, limit };
    const listed = await (words.length > 0
      ? sceneSearches.find({ ...page, words })
      : storage.scenes.list(page));
    const last = listed.at(-1)?.scene;
    const next = last && listed.length === limit ? `${last.changedAtMs}-${last.sceneId}` : null;
    return { scenes: listed.map(summaryOf), next };
  }

  /** What an owner's scenes take, and what they may take. */
  usage(owner: string): Promise<SceneUsage & SceneLimits> {
    return this.#parts.sceneQuota.usage(owner);
  }

  /**
   * Saves a draft, unless the scene was saved elsewhere since `revision`: then read it, bring both together and save again. What
   * the scene has already needs no save, so that a call can be repeated. Errors: those of {@link Scenes.get} and {@link
   * Scenes.create}; `conflict` for an earlier revision.
   */
  async save(sceneId: string, given: SaveScene): Promise<Scene> {
    const { owner, revision, keepsReplaced = false, ...texts } = checked('scenes.save', given, SAVE);
    return this.#change(sceneId, { owner, revision, keepsReplaced }, async (draft) =>
      validDraft({ ...draft, ...texts }),
    );
  }

  /**
   * Makes an earlier draft or a version the current draft; what was current stays among the drafts. A version's files are not
   * restored: those of the draft stay. Errors: those of {@link Scenes.save}; `not_found` also when the draft was displaced, or
   * the version's job is forgotten.
   */
  async restore(sceneId: string, given: RestoreScene): Promise<Scene> {
    const { owner, revision, draft, version = 0 } = checked('scenes.restore', given, RESTORE);
    await foundScene(this.#parts.storage, sceneId, owner);
    const restored = draft === undefined ? undefined : await this.#draft(sceneId, draft);
    const ofVersion = restored ? undefined : await this.#textsOfVersion(sceneId, version);
    return this.#change(sceneId, { owner, revision, keepsReplaced: true }, async (current) =>
      restored ? textsOf(restored) : validDraft(ofVersion ? await ofVersion(current) : current),
    );
  }

  /** Gives a scene another name. Errors: those of {@link Scenes.create} and {@link Scenes.get}. */
  async rename(sceneId: string, given: RenameScene): Promise<Scene> {
    const { owner, name } = checked('scenes.rename', given, RENAME);
    const valid = validName(name);
    const { storage, clock } = this.#parts;
    const renamed = await this.#locked(sceneId, owner, async (tx, scene) => {
      if (scene.name === valid) return scene;
      const changed = { ...scene, name: valid, changedAtMs: Math.max(scene.changedAtMs, clock.now()) };
      await storage.scenes.update(tx, changed);
      return changed;
    });
    return this.#shown(renamed);
  }

  /** Adds a scene with the current draft of another one, without its versions. Errors: those of {@link Scenes.create}. */
  async duplicate(sceneId: string, given: DuplicateScene = {}): Promise<Scene> {
    const { owner, name } = checked('scenes.duplicate', given, DUPLICATE);
    const scene = await foundScene(this.#parts.storage, sceneId, owner);
    const draft = await this.#parts.storage.scenes.draft(sceneId);
    const copied = validName(name ?? `${scene.name.slice(0, 190)} (copy)`);
    return this.#add(scene.owner, copied, draft ? textsOf(draft) : EMPTY);
  }

  /**
   * Removes a scene: its name, drafts and versions become unreadable in all copies of the database. Jobs of its versions stay, as
   * records of their own, unless `forgetJobs`; what they cost stays in any case. Can be repeated after an error. Errors: those of
   * {@link Scenes.get}; `conflict` while a job to forget has not ended.
   */
  async remove(sceneId: string, given: RemoveScene = {}): Promise<void> {
    const { owner, forgetJobs = false } = checked('scenes.remove', given, REMOVE);
    const { storage, sceneSearches } = this.#parts;
    await foundScene(storage, sceneId, owner);
    if (forgetJobs) await this.#forgetJobs(sceneId);
    const scene = await this.#locked(sceneId, owner, async (tx, scene) => {
      await storage.scenes.remove(tx, sceneId);
      return scene;
    });
    sceneSearches.forget(scene.owner, sceneId);
    await storage.purge();
  }

  /** Removes all scenes of an owner who may add none. @internal */
  async forgetAll(owner: string): Promise<void> {
    const { storage, sceneSearches } = this.#parts;
    sceneSearches.forgetAll(owner);
    for (;;) {
      const ids = await storage.scenes.of(owner, PAGE);
      if (ids.length === 0) return;
      for (const sceneId of ids)
        await storage.transaction(async (tx) => {
          await storage.lockOwner(tx, owner);
          if (await storage.scenes.get(sceneId, tx)) await storage.scenes.remove(tx, sceneId);
        });
    }
  }

  /**
   * The drafts of a scene, the newest first: the current one, and at most 50 earlier ones of 4 MiB together. Of those that
   * followed each other within seconds, one a minute is kept. Errors: those of {@link Scenes.get}.
   */
  async drafts(sceneId: string, scope: SceneScope = {}): Promise<SceneDraft[]> {
    const { owner } = checked('scenes.drafts', scope, SCOPE);
    await foundScene(this.#parts.storage, sceneId, owner);
    return (await this.#parts.storage.scenes.drafts(sceneId)).map(draftOf);
  }

  /** Errors: those of {@link Scenes.get}; `not_found` also when the draft was displaced by later ones. */
  async draft(sceneId: string, revision: number, scope: SceneScope = {}): Promise<WholeDraft> {
    const { owner } = checked('scenes.draft', scope, SCOPE);
    await foundScene(this.#parts.storage, sceneId, owner);
    return wholeDraftOf(await this.#draft(sceneId, revision));
  }

  /**
   * A ZIP archive of all scenes of an owner: each in a file, such as `Intro.py`, and `scenes.json`, which has ids, names and
   * settings by the names of these files.
   */
  archive(owner: string): AsyncGenerator<Uint8Array, void> {
    return sceneArchive(this, newOwner(owner));
  }

  async #draft(sceneId: string, revision: number): Promise<DraftRecord> {
    const draft = Number.isSafeInteger(revision)
      ? await this.#parts.storage.scenes.draft(sceneId, revision)
      : undefined;
    if (draft) return draft;
    const message = `There is no draft ${revision} of this scene: only the latest ones are kept.`;
    throw new ScenepressError('not_found', message);
  }

  async #textsOfVersion(
    sceneId: string,
    number: number,
  ): Promise<(current: DraftTexts) => Promise<DraftTexts>> {
    const { storage } = this.#parts;
    const version = await storage.scenes.version(sceneId, number);
    if (!version) throw new ScenepressError('not_found', 'There is no such version.');
    const job = await findJob(storage, version.jobId);
    return ({ settings }) => this.#textsOfJob(job, settings);
  }

  /** `settings`: those that a job does not have. Error: `not_found` if its code was forgotten. */
  async #textsOfJob(job: JobRecord, settings: SceneSettings): Promise<DraftTexts> {
    const code = await this.#parts.storage.readSource(job.jobId);
    if (code === undefined) throw new ScenepressError('not_found', 'The code of this job was forgotten.');
    return { className: job.className, code, settings: settingsOfJob(job, settings) };
  }

  async #forgetJobs(sceneId: string): Promise<void> {
    const { storage } = this.#parts;
    const jobIds: string[] = [];
    for (let before: number | undefined; ; ) {
      const versions = await storage.scenes.versions({ sceneId, before, limit: PAGE });
      for (const { jobId } of versions) assertEnded(await findJob(storage, jobId));
      jobIds.push(...versions.map(({ jobId }) => jobId));
      before = versions.at(-1)?.number;
      if (versions.length < PAGE) break;
    }
    for (const jobId of jobIds) await forgetJob(this.#parts, await findJob(storage, jobId));
  }

  async #add(
    owner: string,
    name: string,
    texts: DraftTexts,
    first?: Pick<VersionRecord, 'jobId' | 'revision'>,
  ): Promise<Scene> {
    const { storage } = this.#parts;
    const sceneId = `d${this.#ids.next()}`;
    const { scene, draft } = await storage.transaction(async (tx) => {
      const added = await addScene(tx, this.#parts, { sceneId, owner, name, texts });
      if (!first) return added;
      if (await storage.scenes.versionOf(first.jobId, tx))
        throw new ScenepressError('conflict', 'This job is a version of a scene already.');
      await storage.scenes.addVersion(tx, { ...first, sceneId, owner, atMs: added.scene.createdAtMs });
      return added;
    });
    return sceneOf({ scene, last: undefined }, draft);
  }

  /** Saves what `change` makes of the current draft, if its revision is as expected. */
  async #change(
    sceneId: string,
    {
      owner,
      revision,
      keepsReplaced,
    }: { owner: string | undefined; revision: number; keepsReplaced: boolean },
    change: (current: DraftTexts) => Promise<DraftTexts>,
  ): Promise<Scene> {
    const { storage, sceneQuota, assertAdmitted, clock } = this.#parts;
    const saved = await this.#locked(sceneId, owner, async (tx, scene) => {
      await assertAdmitted(scene.owner, tx);
      const current = await storage.scenes.draft(sceneId, undefined, tx);
      const currentTexts = current ? textsOf(current) : EMPTY;
      const texts = await change(currentTexts);
      if (isDeepStrictEqual(texts, currentTexts)) return scene;
      if (revision !== scene.revision) throw savedElsewhere(scene, revision);
      const drafts = await storage.scenes.drafts(sceneId, tx);
      // A clock that was set back must not make a draft older than the one before.
      const savedAtMs = Math.max(clock.now(), drafts[0]?.savedAtMs ?? 0);
      const dropped = displacedBy(drafts, { savedAtMs, keepsLast: keepsReplaced });
      const added = { sceneId, revision: revision + 1, savedAtMs, sizeBytes: sizeOf(texts), ...texts };
      const kept = drafts.filter(({ revision }) => !dropped.includes(revision));
      const draftBytes = kept.reduce((sum, { sizeBytes }) => sum + sizeBytes, added.sizeBytes);
      await sceneQuota.assertAdds(tx, scene.owner, { scenes: 0, bytes: draftBytes - scene.draftBytes });
      const changedAtMs = Math.max(scene.changedAtMs, savedAtMs);
      const changed = { ...scene, revision: added.revision, draftBytes, changedAtMs };
      await storage.scenes.update(tx, changed, { added, dropped });
      return changed;
    });
    return this.#shown(saved);
  }

  /** Runs `work` in a transaction that has locked the scene and its owner. */
  async #locked<Result>(
    sceneId: string,
    owner: string | undefined,
    work: (tx: Transaction, scene: SceneRecord) => Promise<Result>,
  ): Promise<Result> {
    const { storage } = this.#parts;
    const found = await foundScene(storage, sceneId, owner);
    return storage.transaction(async (tx) => {
      await storage.lockOwner(tx, found.owner);
      const scene = await storage.scenes.get(sceneId, tx);
      if (!scene) throw noScene();
      return work(tx, scene);
    });
  }

  async #shown(scene: SceneRecord): Promise<Scene> {
    const { scenes } = this.#parts.storage;
    const [draft, [last]] = await Promise.all([
      scenes.draft(scene.sceneId),
      scenes.versions({ sceneId: scene.sceneId, limit: 1 }),
    ]);
    return sceneOf({ scene, last }, draft);
  }
}

function textsOf({ className, code, settings }: DraftRecord): DraftTexts {
  return { className, code, settings };
}

function placeOf(next: string): ScenePlace {
  const [, changedAtMs, sceneId] = /^(\d{1,15})-(\w+)$/.exec(next) ?? [];
  if (sceneId !== undefined) return { changedAtMs: Number(changedAtMs), sceneId };
  throw new ScenepressError('invalid_request', 'after is the `next` of a page of scenes');
}
