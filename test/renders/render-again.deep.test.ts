import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { interrupted, MAIN, scenepress } from '../appliance/command.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { Terminal } from '../fixtures/terminal.ts';

const scenes = (line: string) => `from manim import *


class Plain(Scene):
    def construct(self):
        ${line}
        self.play(Create(Square()), run_time=0.2)


class Endless(Scene):
    def construct(self):
        while True: self.wait(1)
`;

/** The number of an inode alone is given again. */
async function identityOf(path: string): Promise<string> {
  const { ino, birthtimeMs } = await stat(path);
  return `${ino} ${birthtimeMs}`;
}

t.test('a renderer is kept for later calls, and replaced for another folder', async (t) => {
  const cwd = await temporaryFolder(t);
  const env = { TMPDIR: await temporaryFolder(t), XDG_RUNTIME_DIR: cwd };
  await writeFile(join(cwd, 'scenes.py'), scenes('print("here")'));
  const args = ['render', 'scenes.py', '-ql', '--keep-warm', '1'];
  const socket = join(cwd, 'scenepress/renderer.sock');
  const first = await scenepress([...args, 'Plain'], { cwd, env });
  t.match(first, { code: 0, stdout: `${join(cwd, 'Plain.mp4')}\n`, stderr: /^here$/m });
  const before = await identityOf(socket);
  t.equal((await stat(join(cwd, 'scenepress'))).mode & 0o777, 0o700);

  const ended = await interrupted([...args, 'Endless'], /^Rendering/m, { cwd, env });
  t.equal(ended.code, 130);
  const listed = await scenepress([...args, '--list'], { cwd, env });
  t.equal(listed.stdout, 'Endless\nPlain\n', listed.stderr);
  await writeFile(join(cwd, 'scenes.py'), scenes('raise ValueError("changed")'));
  const failed = await scenepress([...args, 'Plain'], { cwd, env });
  t.match(failed, { code: 1, stderr: /ValueError: changed\nline 6: raise/ });
  t.equal(await identityOf(socket), before, 'by the same process');

  await writeFile(join(cwd, 'scenes.py'), scenes('pass'));
  const other = await scenepress([...args, 'Plain', '--no-folder'], { cwd, env });
  t.equal(other.code, 0, other.stderr);
  t.not(await identityOf(socket), before, 'by another process');

  await hostEnded(socket, env.TMPDIR);
  t.pass('no files are left');
});

t.test('a renderer is kept by default in a terminal, and for code from standard input', async (t) => {
  const cwd = await temporaryFolder(t);
  const TMPDIR = await temporaryFolder(t);
  await writeFile(join(cwd, 'scenes.py'), scenes('pass'));
  const env = { ...process.env, TMPDIR, XDG_RUNTIME_DIR: cwd };
  const socket = join(cwd, 'scenepress/renderer.sock');
  const command = [process.execPath, MAIN, 'render', 'scenes.py', 'Plain', '-ql'];
  const terminal = new Terminal(t, command, { cwd, env });
  t.equal(await terminal.ended, 0, terminal.shown);
  t.match(terminal.shown, /Plain\.mp4/);
  t.ok((await stat(socket)).isSocket());

  const { code, stderr } = await scenepress(['render', '-', 'Plain', '-ql', '--keep-warm', '1'], {
    cwd,
    env: { TMPDIR, XDG_RUNTIME_DIR: cwd },
    stdin: scenes('print("from standard input")'),
  });
  t.equal(code, 0, stderr);
  t.match(stderr, /^from standard input$/m);
  await hostEnded(socket, TMPDIR);
});

t.test('a process that has loaded the program runs the next call as its caller would', async (t) => {
  const cwd = await temporaryFolder(t);
  const other = join(cwd, 'other');
  await mkdir(other);
  const TMPDIR = await temporaryFolder(t);
  await writeFile(join(cwd, 'scenes.py'), scenes('print("here")'));
  const env = { TMPDIR, XDG_RUNTIME_DIR: cwd };
  const folder = join(cwd, 'scenepress');
  const socket = join(folder, 'renderer.sock');
  const isReady = async () => {
    const names = () => readdir(folder);
    for (let looks = 0; !(await names()).includes('command.sock'); looks++) {
      if (looks > 3_000) throw new Error(`No process became ready; the folder contains: ${await names()}`);
      await delay(20);
    }
    return identityOf(join(folder, 'command.sock'));
  };
  const args = ['render', join(cwd, 'scenes.py'), '-ql', '--keep-warm', '1'];
  const first = await scenepress([...args, 'Plain'], { cwd, env });
  t.equal(first.code, 0, first.stderr);
  const before = await identityOf(socket);

  const ready = await isReady();
  const second = await scenepress([...args, 'Plain', '-o', 'a.mp4'], { cwd: other, env });
  t.match(second, { code: 0, stdout: `${join(other, 'a.mp4')}\n`, stderr: /^here$/m });
  t.ok((await stat(join(other, 'a.mp4'))).size > 0);
  t.equal(await identityOf(socket), before);
  t.not(await isReady(), ready, 'another process is ready for the next call');

  const command = [process.execPath, MAIN, ...args, 'Plain', '--times'];
  const terminal = new Terminal(t, command, { cwd, env: { ...process.env, ...env } });
  t.equal(await terminal.ended, 0);
  t.match(terminal.shown, /Plain\.mp4\r\n.*Plain: start .* collect [\d.]+ s\r\n/, 'with its last lines');
  await isReady();

  const wrong = await scenepress([...args, 'Plain', '-o', 'a.gif', '--format', 'webm'], { cwd, env });
  t.match(wrong, { code: 2, stdout: '', stderr: /doesn't fit a\.gif/ });
  await isReady();
  const missing = await scenepress([...args, 'Plain'], {
    cwd,
    env: { ...env, SCENEPRESS_RENDER_FRAMES: 'many' },
  });
  t.match(missing, { code: 2, stderr: /SCENEPRESS_RENDER_FRAMES/ }, 'with the environment of its caller');
  await isReady();
  const ended = await interrupted([...args, 'Endless'], /^Rendering/m, { cwd, env });
  t.match(ended, { code: 130, stderr: /Interrupted/ });
  await isReady();
  const own = await scenepress(['render', 'scenes.py', 'Plain', '-ql', '--keep-warm', '0'], { cwd, env });
  t.equal(own.code, 0, own.stderr);
  t.ok((await readdir(folder)).includes('command.sock'), '--keep-warm 0 leaves it alone');
  await hostEnded(socket, TMPDIR);
});

t.test('a ready process of another program is not used', async (t) => {
  const cwd = await temporaryFolder(t);
  const folder = join(cwd, 'scenepress');
  await mkdir(folder, { mode: 0o700 });
  const server = createServer((socket) => socket.end('{"refused":true}\n')).listen(
    join(folder, 'command.sock'),
  );
  t.teardown(() => server.close());
  await once(server, 'listening');
  const asked = once(server, 'connection');
  const args = ['render', 'none.py', '--keep-warm', '1'];
  const { code, stderr } = await scenepress(args, { cwd, env: { XDG_RUNTIME_DIR: cwd } });
  await asked;
  t.equal(code, 2);
  t.match(stderr, /none\.py/);
});

t.test('a socket folder of somebody else is not used', async (t) => {
  const cwd = await temporaryFolder(t);
  await mkdir(join(cwd, 'scenepress'));
  await writeFile(join(cwd, 'scenes.py'), scenes('pass'));
  const args = ['render', 'scenes.py', 'Plain', '-ql', '--keep-warm', '1'];
  const { code, stderr } = await scenepress(args, { cwd, env: { XDG_RUNTIME_DIR: cwd } });
  t.equal(code, 0, stderr);
  t.strictSame(await readdir(join(cwd, 'scenepress')), []);
});

t.test('--watch renders again when a file of the folder is saved, also after an error', async (t) => {
  const cwd = await temporaryFolder(t);
  await mkdir(join(cwd, 'lessons/parts'), { recursive: true });
  await chmod(cwd, 0o755); // Scenes of root run as another user.
  const module = join(cwd, 'lessons/parts/part.py');
  await writeFile(module, 'LINE = 1\n');
  await writeFile(join(cwd, 'scenes.py'), scenes('from lessons.parts import part; print("line", part.LINE)'));
  const args = ['render', 'scenes.py', 'Plain', '-ql', '--folder', '.', '--watch', '-o', 'videos/a.mp4'];
  const child = spawn(process.execPath, [MAIN, ...args], { cwd });
  const shown = async (stream: 'stdout' | 'stderr', pattern: RegExp) => {
    for (let all = ''; ; ) {
      const match = pattern.exec(all);
      if (match) return match;
      all += (await once(child[stream], 'data'))[0];
    }
  };
  const [[, url = '']] = await Promise.all([shown('stderr', /^Player: (\S+)\n/m), shown('stdout', /a\.mp4/)]);
  const page = await fetch(`${url}events`);
  const events = page.body?.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
  const nextEvent = async () => JSON.parse(String((await events?.next())?.value).replace('data: ', ''));
  t.match(await nextEvent(), { scenes: [{ scene: 'Plain', kind: 'video', name: 'a.mp4', error: null }] });

  const failed = shown('stderr', /ValueError: mistake/);
  await writeFile(module, 'raise ValueError("mistake")\n');
  await failed;
  t.match(await nextEvent(), { scenes: [{ scene: 'Plain', kind: 'none', error: /^ValueError: mistake/ }] });
  const mended = shown('stdout', /a\.mp4/);
  await writeFile(module, 'LINE = 2\n');
  await mended;
  t.match(await nextEvent(), { scenes: [{ kind: 'video', error: null }] });
  child.kill('SIGINT');
  const [code] = await once(child, 'close');
  t.equal(code, 130);
  t.match((await events?.next())?.value, /^event: end$/m, 'the page ends with the command');
});

t.test('--watch is not triggered by a log of its own output', async (t) => {
  const cwd = await temporaryFolder(t);
  await chmod(cwd, 0o755);
  await writeFile(join(cwd, 'scenes.py'), scenes('pass'));
  const command = `exec "$0" "$1" render scenes.py Plain -ql --watch 2>&1 | tee watch.log`;
  const child = spawn('sh', ['-c', command, process.execPath, MAIN], { cwd, detached: true });
  const log = () => readFile(join(cwd, 'watch.log'), 'utf8').catch(() => '');
  const renders = async () => (await log()).split('Plain.mp4').length - 1;
  while ((await renders()) === 0) await delay(20);
  await delay(3000);
  t.equal(await renders(), 1);
  await writeFile(join(cwd, 'scenes.py'), scenes('print()'));
  while ((await renders()) === 1) await delay(20);
  process.kill(-(child.pid ?? 0), 'SIGINT');
  await once(child, 'close');
});

/** Removes the socket of a kept renderer, which then ends, and waits until it has left no files. */
async function hostEnded(socket: string, folder: string): Promise<void> {
  await rm(socket);
  while ((await readdir(folder)).length > 0) await delay(20);
}
