import type { Transaction } from '../storage/transaction.ts';

/** How much owners may keep. */
export interface SceneLimits {
  /** Scenes of an owner. Default 1,000. */
  mostScenes: number;
  /** Bytes of all drafts of an owner's scenes. Default 256 MiB. */
  mostBytes: number;
}

/** Limits on the scenes of owners. */
export interface SceneOptions extends SceneLimits {
  /** An owner's own limits, where they differ. Called in the transaction that saves a scene, `tx`. */
  limitsOf?: (
    owner: string,
    tx: Transaction,
  ) => Promise<Partial<SceneLimits> | undefined> | Partial<SceneLimits> | undefined;
}

export const DEFAULT_SCENES: SceneOptions = { mostScenes: 1_000, mostBytes: 256 * 1024 ** 2 };

/** Of a scene's code, in bytes: as of a render request. */
export const LARGEST_CODE: number = 204_800;
