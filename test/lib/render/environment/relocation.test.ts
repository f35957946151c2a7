import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { relocate } from '../../../../lib/render/environment/relocation.ts';
import { noMounts, whereMounted } from '../../../fixtures/mounts.ts';

const LIBRARIES = 'usr/lib/x86_64-linux-gnu';
const PROGRAMS = ['/usr/bin/fc-cache', '/usr/bin/dash'];
const missing = PROGRAMS.find((path) => !existsSync(path));
const skip = missing ? `needs ${missing}` : false;

/** A root with a shell and the program that relocation runs as a check. */
function smallRoot(tree: string) {
  mkdirSync(join(tree, LIBRARIES), { recursive: true });
  mkdirSync(join(tree, 'usr/bin'), { recursive: true });
  for (const program of PROGRAMS) copyFileSync(program, join(tree, 'usr/bin', basename(program)));
  const needed = execFileSync('ldd', PROGRAMS, { encoding: 'utf8' });
  for (const [, path = ''] of needed.matchAll(/(\/\S+) \(0x/g)) {
    copyFileSync(path, join(tree, LIBRARIES, basename(path)));
  }
  return { tree, environment: undefined, python: '', packageFolder: '' };
}

/** A folder with a short path, because the shebang line contains it twice. */
function place(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'relocation-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  for (const name of ['tree', 'work']) mkdirSync(join(folder, name));
  return folder;
}

t.test('programs of a relocated root can be started', { skip }, async (t) => {
  const folder = place(t);
  const { environment } = await relocate(smallRoot(join(folder, 'tree')), join(folder, 'work'));
  const path = join(`${environment['PATH']}`, 'fc-cache');
  t.match(spawnSync(path, ['--version'], { env: environment, encoding: 'utf8' }), {
    status: 0,
    stderr: /fontconfig version/,
  });
});

t.test('a path that is too long for a shebang line is rejected', { skip }, async (t) => {
  const folder = place(t);
  const tree = join(folder, 'deep'.repeat(30));
  mkdirSync(tree);
  const expected = { code: 'renderer_unavailable', message: /too long.*shorter path/ };
  await t.rejects(relocate(smallRoot(tree), join(folder, 'work')), expected);
});

t.test('a mount without exec is reported with a remedy', { skip: skip || noMounts() }, (t) => {
  const folder = place(t);
  const root = smallRoot(join(folder, 'tree'));
  const module = pathToFileURL(join(import.meta.dirname, '../../../../lib/render/environment/relocation.ts'));
  const source = `
    import { relocate } from ${JSON.stringify(module)};
    await relocate(${JSON.stringify(root)}, ${JSON.stringify(join(folder, 'work/place'))})
      .catch(({ code, message }) => console.log(code, message));`;
  t.match(
    whereMounted('noexec', join(folder, 'work'), source),
    /^renderer_unavailable .*work\/place.*EACCES.*noexec.*--tmpfs PLACE:exec/,
  );
  t.end();
});
