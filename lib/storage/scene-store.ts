import type { DraftRecord, DraftState, SceneRecord, SceneUsage, VersionRecord } from '../model/scene.ts';
import type { Transaction } from './transaction.ts';

/** A place in the list of an owner's scenes, which begins with the one that was changed last. */
export type ScenePlace = Pick<SceneRecord, 'changedAtMs' | 'sceneId'>;

/** A page of an owner's scenes. */
export interface ScenePage {
  owner: string;
  /** Only those behind this place. */
  after?: ScenePlace | undefined;
  limit: number;
}

/** A page of a scene's versions. */
export interface VersionPage {
  sceneId: string;
  /** Only those with a smaller number. */
  before?: number | undefined;
  limit: number;
}

/** A scene of a list. */
export interface ListedScene {
  scene: SceneRecord;
  /** Its newest version, whose job is visible. */
  last: VersionRecord | undefined;
}

/**
 * The scenes of owners, with their drafts and versions. They commit together with the jobs. All texts of a scene are encrypted
 * with one key, which {@link SceneStore.remove} makes blank.
 */
export interface SceneStore {
  insert(tx: Transaction, scene: SceneRecord, draft: DraftRecord): Promise<void>;
  /** Replaces the record of a scene that exists. `added`: its current draft from now on; `dropped`: revisions of others. */
  update(
    tx: Transaction,
    scene: SceneRecord,
    drafts?: { added?: DraftRecord; dropped: readonly number[] },
  ): Promise<void>;
  /** Removes a scene with its drafts and versions, not the jobs of these. */
  remove(tx: Transaction, sceneId: string): Promise<void>;
  /** With `tx`, no other transaction can change it until this one ends. */
  get(sceneId: string, tx?: Transaction): Promise<SceneRecord | undefined>;
  /** Those that were changed last first, without their versions. */
  records(page: ScenePage): Promise<SceneRecord[]>;
  /** Those that were changed last first. */
  list(page: ScenePage): Promise<ListedScene[]>;
  /** Ids of an owner's scenes, at most `limit`. */
  of(owner: string, limit: number): Promise<string[]>;
  usage(owner: string, tx?: Transaction): Promise<SceneUsage>;

  /** The draft of a revision; without one, the newest. */
  draft(sceneId: string, revision?: number, tx?: Transaction): Promise<DraftRecord | undefined>;
  /** All drafts without their texts, the newest first. */
  drafts(sceneId: string, tx?: Transaction): Promise<DraftState[]>;

  /**
   * Makes a job the next version of a scene, which counts as changed at that time (epoch milliseconds). Error: `not_found` if
   * its owner has no such scene.
   */
  addVersion(
    tx: Transaction,
    version: Omit<VersionRecord, 'number'> & { owner: string; atMs: number },
  ): Promise<void>;
  /** The version that a job is. */
  versionOf(jobId: string, tx?: Transaction): Promise<VersionRecord | undefined>;
  version(sceneId: string, number: number): Promise<VersionRecord | undefined>;
  /** Versions whose jobs are visible, the newest first. */
  versions(page: VersionPage): Promise<VersionRecord[]>;
  /** The jobs, of these, whose artifacts have been removed; at most 500 ids. */
  expired(jobIds: readonly string[]): Promise<string[]>;
}
