import { closeSync, ftruncateSync, openSync, readdirSync, readlinkSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { scenepress, startScenepress } from './command.ts';

/** More than is read before the test ends. */
const HUGE_BYTES = 2 ** 42;

/** Resolves when a process has opened a file. */
async function opened(pid: number, path: string): Promise<void> {
  for (;;) {
    const files = `/proc/${pid}/fd`;
    for (const name of readdirSync(files)) {
      try {
        if (readlinkSync(join(files, name)) === path) return;
      } catch {
        // It was closed meanwhile.
      }
    }
    await delay(10);
  }
}

t.test('Ctrl-C ends a restore, which leaves nothing', async (t) => {
  const folder = await temporaryFolder(t);
  const [data, backup, restored] = ['data', 'backup', 'restored'].map((name) => join(folder, name));
  await scenepress(['account', 'create', 'ada@example.org', '--data-dir', `${data}`]);
  await scenepress(['backup', `${backup}`, '--data-dir', `${data}`]);
  const manifest = JSON.parse(await readFile(join(`${backup}`, 'backup.json'), 'utf8'));
  manifest.files['huge'] = { sha256: '', sizeBytes: HUGE_BYTES };
  await writeFile(join(`${backup}`, 'backup.json'), JSON.stringify(manifest));
  const huge = openSync(join(`${backup}`, 'huge'), 'w');
  ftruncateSync(huge, HUGE_BYTES);
  closeSync(huge);

  const restoring = startScenepress(['restore', `${backup}`, '--data-dir', `${restored}`]);
  await opened(restoring.pid, join(`${backup}`, 'huge'));
  process.kill(-restoring.pid, 'SIGINT');
  t.match(await restoring.ended, { code: 130, stderr: 'Interrupted.\n' });
  t.same(readdirSync(folder).sort(), ['backup', 'data']);
});
