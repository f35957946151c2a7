import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { scenepress } from './command.ts';
import { listeningAppliance } from './listening-appliance.ts';

t.test('files are kept, listed, fetched and removed from the command line', async (t) => {
  const { url, key, newKey } = await listeningAppliance(t);
  const cwd = await temporaryFolder(t);
  mkdirSync(join(cwd, 'narration', 'de'), { recursive: true });
  writeFileSync(join(cwd, 'data.csv'), '1,2');
  writeFileSync(join(cwd, 'narration', 'intro.txt'), 'Hello');
  writeFileSync(join(cwd, 'narration', '.hidden.txt'), 'no');
  writeFileSync(join(cwd, 'narration', 'de', 'intro.txt'), 'Hallo');
  const file = (args: string[], ofKey = key) =>
    scenepress(['file', ...args, '--server', url], { cwd, env: { SCENEPRESS_KEY: ofKey } });

  t.match(await file(['put', 'data.csv', 'narration', '--folder', 'lesson/']), {
    code: 0,
    stdout: /^lesson\/data.csv +3 B\nlesson\/de\/intro.txt +5 B\nlesson\/intro.txt +5 B\n$/m,
  });
  t.match(await file(['put', 'data.csv', '--name', 'points.csv', '--json']), { code: 0 });
  const listed = JSON.parse((await file(['list', '--json'])).stdout) as { name: string }[];
  t.same(
    listed.map(({ name }) => name),
    ['lesson/data.csv', 'lesson/de/intro.txt', 'lesson/intro.txt', 'points.csv'],
  );
  t.match(
    (await file(['list', '--folder', 'lesson/de'])).stdout,
    /^NAME .*\nlesson\/de\/intro.txt +data +5 B/,
  );
  t.match(await file(['get', 'lesson/de/intro.txt']), { code: 0, stdout: 'intro.txt\n' });
  t.equal(readFileSync(join(cwd, 'intro.txt'), 'utf8'), 'Hallo');
  t.match(await file(['get', 'points.csv', '-o', 'copy.csv', '--json']), { code: 0 });
  t.equal(readFileSync(join(cwd, 'copy.csv'), 'utf8'), '1,2');
  t.match(await file(['list', '--search', 'INTRO', '--folder', 'lesson/de']), {
    stdout: /^NAME .*\nlesson\/de\/intro.txt[^\n]*\n$/,
  });
  t.match(await file(['rename', 'points.csv', 'points/2026.csv']), {
    ...{ code: 0, stdout: 'Renamed points.csv to points/2026.csv.\n' },
  });
  t.match(await file(['rename', 'points/2026.csv', 'lesson/intro.txt']), {
    code: 1,
    stderr: /another format/,
  });
  t.match(await file(['rename', 'points/2026.csv', 'points.csv', '--json']), { code: 0 });
  t.match(await file(['remove', 'points.csv', 'lesson/data.csv']), { code: 0, stdout: 'Removed 2 files.\n' });

  const refused: [args: string[], code: number, message: RegExp][] = [
    [['get', 'points.csv'], 1, /There is no file points.csv. `scenepress file list`/],
    [['put', 'nothing.csv'], 2, /nothing.csv can't be read: ENOENT/],
    [['put', 'data.csv', '--name', 'data.exe'], 1, /400: data.exe is of no kind that scenes use/],
    [['put', 'narration', '--name', 'one.txt'], 2, /--name is for one file, not for 2 files/],
    [['put', 'data.csv', '--name', 'a.png'], 1, /not that of a .png file/],
  ];
  for (const [args, code, stderr] of refused) t.match(await file(args), { code, stderr }, args.join(' '));
  t.match(await file(['list'], 'svc_live_wrong'), { code: 1, stderr: /401: .*SCENEPRESS_KEY/ });
  const other = await newKey('eve@example.org');
  t.match(await file(['list'], other), { code: 0, stdout: /^NAME[^\n]*\n$/ });
  t.match(await file(['get', 'lesson/intro.txt'], other), { code: 1, stderr: /There is no file/ });
});
