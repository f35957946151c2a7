import { execFile } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { FolderLock } from '../../../lib/files/folder-lock.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const MODULE = join(import.meta.dirname, '../../../lib/files/folder-lock.ts');

/** What another process gets that locks a folder; `isByFile`: the lock on the file refused it. */
async function lockElsewhere(
  folder: string,
): Promise<{ code?: string; message?: string; isByFile?: boolean }> {
  const program = `
    const { FolderLock } = await import(${JSON.stringify(MODULE)});
    const lock = new FolderLock(${JSON.stringify(folder)});
    const error = await lock.acquire().catch((error) => error);
    const { code, message, cause } = error ?? {};
    console.log(JSON.stringify({ code, message, isByFile: error && cause !== undefined }));
    lock.release();`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
  return JSON.parse(stdout) as Awaited<ReturnType<typeof lockElsewhere>>;
}

t.test('a process that copies its locked folder keeps the lock', async (t) => {
  const root = testFolder(t, { data: {} });
  const folder = join(root, 'data');
  const lock = new FolderLock(folder);
  await lock.acquire();
  t.teardown(() => lock.release());
  const refused = { code: 'storage_locked', message: new RegExp(`process id ${process.pid}`) };
  t.match(await lockElsewhere(folder), { ...refused, isByFile: true });
  // Closing the copied file releases the lock on it: locks of a file belong to the process.
  await cp(folder, join(root, 'copy'), { recursive: true });
  t.match(await lockElsewhere(folder), { ...refused, isByFile: false });
  lock.release();
  t.same(await lockElsewhere(folder), {});
});
