import type { AssetStore } from '../assets/asset-store.ts';
import { ScenepressError } from '../base/errors.ts';
import type { Random } from '../base/random.ts';
import { isStorableText } from '../base/storable-text.ts';
import type { Acceptance } from '../jobs/accept/acceptance.ts';
import type { SceneRecord } from '../model/scene.ts';
import type { FileRemoval } from '../owner-files/file-removal.ts';
import type { SentFiles } from '../owner-files/sent-files.ts';
import type { Storage } from '../storage/storage.ts';
import type { Transaction } from '../storage/transaction.ts';
import type { Clock } from '../time/clock.ts';
import type { SceneQuota } from './scene-quota.ts';
import type { SceneSearches } from './scene-searches.ts';

/** What scenes need of a service. */
export interface ScenesParts {
  storage: Storage;
  assets: AssetStore;
  acceptance: Pick<Acceptance, 'acceptAll'>;
  sentFiles: Pick<SentFiles, 'with'>;
  webhooks: {
    prepare(secret?: string): Promise<void>;
    secrets: { decrypt(sealed: string): Promise<string> };
  };
  fileRemoval: Pick<FileRemoval, 'discard'>;
  sceneQuota: SceneQuota;
  sceneSearches: SceneSearches;
  /** Error: for an owner who may add nothing, or a full disk. */
  assertAdmitted: (owner: string, tx: Transaction) => Promise<void>;
  clock: Clock;
  random: Random;
}

/** Error: `not_found` when there is no such scene, it has been removed, or it has another owner. */
export async function foundScene(
  { scenes }: Pick<Storage, 'scenes'>,
  sceneId: string,
  owner: string | undefined,
): Promise<SceneRecord> {
  const scene = isStorableText(sceneId) ? await scenes.get(sceneId) : undefined;
  if (scene && (owner === undefined || owner === scene.owner)) return scene;
  throw noScene();
}

export function noScene(): ScenepressError {
  return new ScenepressError('not_found', 'There is no such scene, or it has been removed.');
}

/** The error for a save of an earlier draft than the current one. */
export function savedElsewhere(scene: SceneRecord, revision: number): ScenepressError {
  return new ScenepressError(
    'conflict',
    `The scene was saved elsewhere meanwhile: its revision is ${scene.revision}, not ${revision}. Nothing was saved. ` +
      'Read it, bring both together, and save with its revision.',
  );
}
