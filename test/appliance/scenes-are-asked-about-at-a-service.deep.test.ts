// `check` and `inspect` with --server: the same documents, files and exit codes as without.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { RemoteScenes } from '../../appliance/cli/remote-scenes.ts';
import { RemoteService } from '../../appliance/cli/remote-service.ts';
import { freePort } from '../fixtures/free-port.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { scenepress } from './command.ts';
import { listen, oldService } from './hostile-service.ts';
import { listeningAppliance } from './listening-appliance.ts';

const PYTHON = join(import.meta.dirname, '../fixtures/instant-renderer/bin/python');
const OWN = ['--python', PYTHON, '--insecure-no-sandbox'];
const SCENE = 'class Hello(Scene):\n    def construct(self): ...\n';
const BROKEN = `${SCENE}# fail: line 2: it is broken\n`;

async function folderWith(t: Test, files: Record<string, string>): Promise<string> {
  const folder = await temporaryFolder(t);
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

/** What `check` and `inspect` do at an address. */
function asked(url: string, key = 'k', artifacts: string[] = []) {
  const service = new RemoteService({ url, key, artifacts }, { mostBytes: 1000, attempts: 1 });
  const scenes = new RemoteScenes(service);
  return { check: () => scenes.check(SCENE), inspect: () => scenes.inspect(SCENE) };
}

t.test('a service answers what the command answers', async (t) => {
  const { url, key } = await listeningAppliance(t, { python: PYTHON, insecureNoSandbox: true });
  const cwd = await folderWith(t, { 'bad.py': BROKEN, 'manim.cfg': '[CLI]\nseed = 1\n' });
  const env = { SCENEPRESS_KEY: key };
  for (const words of [
    ['check', 'bad.py', 'Hello', '-q', 'high', '--fps', '12', '--aspect', '9:16'],
    ['inspect', 'bad.py', '--json', '-o', 'bad.jpg'],
  ]) {
    const remote = await scenepress([...words, '--server', url], { cwd, env });
    const own = await scenepress([...words, ...OWN], { cwd });
    t.match(own, { code: 1, stdout: /line 2: it is broken/ });
    t.strictSame([remote.code, remote.stdout], [own.code, own.stdout], words.join(' '));
    t.equal(remote.stderr, 'manim.cfg has no effect with --server.\n');
  }
});

t.test('pictures of an inspection are written where the command writes them', async (t) => {
  const { url, key } = await listeningAppliance(t, { python: PYTHON, insecureNoSandbox: true });
  const words = ['inspect', 'good.py', '--json', '-o', 'out/', '--pictures', 'out/singly'];
  const written = async (more: string[]) => {
    const cwd = await folderWith(t, { 'good.py': `${SCENE}# echo\n` });
    const { code, stdout, stderr } = await scenepress([...words, ...more], { cwd });
    t.equal(code, 0, stderr);
    const files = (await readdir(join(cwd, 'out'), { recursive: true })).sort();
    const pictures = files.filter((file) => file.endsWith('.jpg'));
    return [stdout, files, await Promise.all(pictures.map((file) => readFile(join(cwd, 'out', file))))];
  };
  const remote = await written(['--server', `${url}/`, '--key', key]);
  t.strictSame(remote, await written(OWN));
  t.strictSame(remote[1], ['Hello-sheet.jpg', 'singly', 'singly/Hello-1.jpg']);
});

t.test('a key that is wrong or may not is told', async (t) => {
  const { url, key, installation } = await listeningAppliance(t);
  const cwd = await folderWith(t, { 'good.py': SCENE });
  const wrong = await scenepress(['check', 'good.py', '--server', url, '--key', `${key}0`], { cwd });
  t.match(wrong, { code: 2, stdout: '', stderr: /^scenepress: http\S+: 401: .* --key KEY/ });
  t.notMatch(wrong.stderr, /svc_live|\n {4}at /);
  const { keys } = installation.administration;
  const renders = await keys.create({ account: 'ada@example.org', name: 'Renders', scopes: ['render'] });
  const { check, inspect } = asked(url, renders.key);
  for (const ask of [check, inspect] as (() => Promise<object>)[])
    await t.rejects(ask(), { message: /^http\S+: 403: .* the scope check\..* ask for one that has it/ });
});

t.test('an older service, what is no service, and nothing are told', async (t) => {
  const page = await listen(t, (_, response) => void response.end('<p>Hello</p>'));
  for (const [url, message] of [
    [await oldService(t), /: it has no tools API: .* older version/],
    [page, /: it does not answer with JSON\. Is it/],
    [
      `http://127.0.0.1:${await freePort()}`,
      /: it can't be reached: connect ECONNREFUSED .* a service that runs\?/,
    ],
  ] as const) {
    const { check, inspect } = asked(url);
    for (const ask of [check, inspect] as (() => Promise<object>)[])
      await t.rejects(ask(), { exitCode: 1, message });
  }
});

t.test('flags that a service has no field for are refused', async (t) => {
  const cwd = await folderWith(t, { 'good.py': SCENE });
  const args = ['good.py', '--server', 'https://renders.example.org', '--key', 'k'];
  for (const [command, ...flag] of [
    ['check', '--folder', '.'],
    ['check', '--keep-warm', '5'],
    ['inspect', '--render-memory-mb', '512'],
  ] as const) {
    const refused = await scenepress([command, ...args, ...flag], { cwd });
    t.match(refused, { code: 2, stderr: new RegExp(`A service has no ${flag[0]}: .* Leave out one`) });
  }
});

t.test('what a service answers is not trusted', async (t) => {
  const found = { ok: true, findings: [] };
  const scene = { ...{ className: 'Hello', frames: 1, seconds: 1, readsPixels: false, plays: [] } };
  const inspected = { ...scene, output: '', pictures: [], creditsCost: 1, expiresAt: '2026-01-01T00:00:00Z' };
  const elsewhere = 'http://127.0.0.1:9/sheet.jpg';
  const answering = (answer: object) => listen(t, (_, response) => void response.end(JSON.stringify(answer)));
  for (const [command, answer, message] of [
    ['check', { ...found, scenes: 7 }, /what this version doesn't know/],
    ['check', { ok: true, findings: [{ kind: 'new' }], scenes: [] }, /what this version doesn't know/],
    ['inspect', { ...found, scenes: [{ ...inspected, className: '../a', sheet: '' }] }, /doesn't know/],
    ['inspect', { ...found, scenes: [{ ...inspected, sheet: elsewhere }] }, /--artifacts http:\S+:9$/],
    ['inspect', { ...found, scenes: [{ ...inspected, sheet: 'file:///etc/passwd' }] }, /its files by file/],
    ['inspect', { ...found, scenes: [{ ...inspected, sheet: 'sheet' }] }, /picture without an address/],
  ] as const)
    await t.rejects(asked(await answering(answer))[command]() as Promise<object>, { exitCode: 1, message });
  const other = await listen(t, (_, response) => void response.end('x'.repeat(1001)));
  const large = await answering({ ...found, scenes: [{ ...inspected, sheet: other }] });
  await t.rejects(asked(large, 'k', [other]).inspect(), { message: /it sends more than/ });

  const newer = { ...found, scenes: [{ ...scene, className: 'Hello\u001b[2J', added: 1 }], added: 1 };
  const args = ['check', '-', '--server', await answering(newer), '--key', 'k'];
  t.match(await scenepress(args, { stdin: SCENE }), { code: 0, stdout: 'Hello·[2J: 0 plays, 1.0 s\n' });
  t.same(await asked(await answering(newer)).check(), {
    ...found,
    params: [],
    scenes: [{ ...scene, className: 'Hello\u001b[2J' }],
  });
});
