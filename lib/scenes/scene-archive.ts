import { Zip } from '../base/zip.ts';
import { fileNames } from './file-names.ts';
import type { SceneQuery, SceneScope } from './scene-requests.ts';
import type { Scene, SceneSummary } from './scene-views.ts';

const PAGE = 50;
const LIST = 'scenes.json';

interface Readable {
  list(query: SceneQuery): Promise<{ scenes: SceneSummary[]; next: string | null }>;
  get(sceneId: string, scope: SceneScope): Promise<Scene>;
}

/** The bytes of a ZIP archive of an owner's scenes, one scene after the other. */
export async function* sceneArchive(scenes: Readable, owner: string): AsyncGenerator<Uint8Array, void> {
  const zip = new Zip();
  const nameOf = fileNames();
  const listed: Record<string, object> = {};
  let newest = new Date(0);
  for (let after: string | null | undefined; after !== null; ) {
    const page = await scenes.list({ owner, limit: PAGE, ...(after !== undefined && { after }) });
    for (const { sceneId } of page.scenes) {
      const { code, owner: _, ...scene } = await scenes.get(sceneId, { owner });
      const file = nameOf(scene.name);
      const changedAt = new Date(scene.changedAt);
      if (changedAt > newest) newest = changedAt;
      listed[file] = scene;
      yield zip.file(file, code, changedAt);
    }
    after = page.next;
  }
  yield zip.file(LIST, `${JSON.stringify(listed, null, 2)}\n`, newest);
  yield zip.end();
}
