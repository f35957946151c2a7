import type { DraftRecord, SceneRecord } from '../model/scene.ts';
import type { Transaction } from '../storage/transaction.ts';
import type { ScenesParts } from './scene-parts.ts';
import { type DraftTexts, sizeOf } from './valid-scene.ts';

/** A scene to add, whose name and texts are valid. */
interface NewSceneOf {
  sceneId: string;
  owner: string;
  name: string;
  texts: DraftTexts;
}

/** What adding a scene needs of a service. */
export type AddsScenes = Pick<ScenesParts, 'storage' | 'sceneQuota' | 'assertAdmitted' | 'clock'>;

/** Adds a scene with its first draft, and locks its owner. Errors: `too_much_stored`, `owner_refused`, `storage_full`. */
export async function addScene(
  tx: Transaction,
  { storage, sceneQuota, assertAdmitted, clock }: AddsScenes,
  { sceneId, owner, name, texts }: NewSceneOf,
): Promise<{ scene: SceneRecord; draft: DraftRecord }> {
  const nowMs = clock.now();
  const sizeBytes = sizeOf(texts);
  const draft: DraftRecord = { sceneId, revision: 1, savedAtMs: nowMs, sizeBytes, ...texts };
  const scene: SceneRecord = {
    ...{ sceneId, owner, name, revision: 1, draftBytes: sizeBytes },
    ...{ createdAtMs: nowMs, changedAtMs: nowMs },
  };
  await storage.lockOwner(tx, owner);
  await assertAdmitted(owner, tx);
  await sceneQuota.assertAdds(tx, owner, { scenes: 1, bytes: sizeBytes });
  await storage.scenes.insert(tx, scene, draft);
  return { scene, draft };
}
