import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { findArchive } from '../../../../lib/render/setup/archive.ts';
import { inputOf } from '../../../../lib/render/setup/unpack.ts';
import { UnpackedRoot } from '../../../../lib/render/setup/unpacked-root.ts';
import { cannotUnpack, packSmallRoot } from '../../../fixtures/packed-root.ts';
import { testFolder } from '../../../fixtures/test-folder.ts';

const PROGRAM = join(import.meta.dirname, '../../../fixtures/unpacking-program.ts');
const SILENT = { onProgress: () => {}, onWait: () => {} };
const skip = cannotUnpack();

function place(t: Test): { packed: string; folder: string } {
  const packed = join(testFolder(t, {}), 'packed');
  mkdirSync(packed);
  return { packed, folder: join(packed, '../unpacked') };
}

interface Program {
  child: ChildProcess;
  /** Resolves when the next line is this one; rejects if it is another. */
  says: (line: string) => Promise<void>;
}

function start(t: Test, file: string, folder: string, ...options: 'stop'[]): Program {
  const stdio = ['pipe', 'pipe', 'inherit'] as const;
  const child = spawn(process.execPath, [PROGRAM, file, folder, ...options], { stdio: [...stdio] });
  t.teardown(() => child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout as Readable })[Symbol.asyncIterator]();
  return { child, says: async (line) => assert.equal((await lines.next()).value, line) };
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'close');
  child.stdin?.end();
  await ended;
}

t.test('a root is unpacked once and readable by everyone', { skip }, async (t) => {
  const { packed, folder } = place(t);
  const archive = packSmallRoot(packed, { 'etc/hello': 'hello' });
  const umask = process.umask(0o077);
  t.teardown(() => process.umask(umask));
  const root = new UnpackedRoot({ archive, folder });
  const parts: number[] = [];
  await root.start({ ...SILENT, onProgress: (part) => parts.push(part) });
  t.equal(parts.at(-1), 1, 'progress is reported to the end');
  t.equal(readFileSync(join(root.path, 'etc/hello'), 'utf8'), 'hello');
  t.equal(statSync(join(root.path, 'etc/hello')).mode & 0o777, 0o644);
  t.notOk(existsSync(join(root.path, '.tools')));
  await root.flushed;
  root.stop();
  const again = new UnpackedRoot({ archive, folder });
  await again.start({ ...SILENT, onProgress: () => t.fail('the root was unpacked again') });
  again.stop();
});

t.test('input that tar leaves unread when it exits does not block', async (t) => {
  const ended = spawn('true', { stdio: ['pipe', 'ignore', 'pipe'] });
  await once(ended, 'close');
  const input = inputOf(ended);
  await pipeline(Readable.from([Buffer.from('rest')]), input);
  t.ok(input.writableFinished);
});

t.test('of two concurrent starts, one unpacks and the other waits', { skip }, async (t) => {
  const { packed, folder } = place(t);
  const { file } = packSmallRoot(packed, { 'etc/hello': 'hello' });
  const first = start(t, file, folder, 'stop');
  await first.says('unpacking');
  const second = start(t, file, folder);
  await second.says('waiting');
  first.child.kill('SIGCONT');
  await first.says('ready');
  await second.says('ready');
  await Promise.all([end(first.child), end(second.child)]);
});

t.test('the next start replaces a root whose unpacking was killed', { skip }, async (t) => {
  const { packed, folder } = place(t);
  const archive = packSmallRoot(packed, { 'etc/hello': 'hello' });
  const killed = start(t, archive.file, folder, 'stop');
  await killed.says('unpacking');
  killed.child.kill('SIGKILL');
  await once(killed.child, 'close');
  t.notOk(
    existsSync(join(folder, `root-${archive.name}`)),
    'an incomplete root does not have its final name',
  );
  const root = new UnpackedRoot({ archive, folder });
  await root.start(SILENT);
  t.equal(readFileSync(join(root.path, 'etc/hello'), 'utf8'), 'hello');
  await root.flushed; // The mark is written after the flush.
  t.strictSame(unfinished(folder), [], 'nothing of the first attempt is left');
  root.stop();
});

t.test('a root that a power cut may have left incomplete is unpacked again', { skip }, async (t) => {
  const { packed, folder } = place(t);
  const archive = packSmallRoot(packed, { 'etc/hello': 'hello' });
  const root = new UnpackedRoot({ archive, folder });
  const start = async () => {
    let unpacked = false;
    await root.start({
      ...SILENT,
      onProgress: () => {
        unpacked = true;
      },
    });
    const text = readFileSync(join(root.path, 'etc/hello'), 'utf8');
    root.stop();
    return { unpacked, text };
  };
  await start();
  const mark = `${root.path}.whole`;
  await root.flushed;
  t.equal(readFileSync(mark, 'utf8'), 'flushed');
  t.equal(statSync(mark).mode & 0o777, 0o644);

  writeFileSync(mark, readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
  t.strictSame(
    await start(),
    { unpacked: false, text: 'hello' },
    'a root unpacked since this boot is complete',
  );
  await root.flushed;
  t.equal(readFileSync(mark, 'utf8'), 'flushed', 'a root that a killed process had not flushed is flushed');

  for (const text of ['6e7a3d9c-0d1c-4c5f-9a35-0f3f4d1e8b77', '']) {
    writeFileSync(join(root.path, 'etc/hello'), '');
    writeFileSync(mark, text);
    t.strictSame(await start(), { unpacked: true, text: 'hello' }, `marked with "${text}"`);
    await root.flushed;
  }
  rmSync(mark);
  t.strictSame(await start(), { unpacked: true, text: 'hello' }, 'not marked');
  await root.flushed;
});

t.test('a root without a mark is not replaced while another process uses it', { skip }, async (t) => {
  const { packed, folder } = place(t);
  const archive = packSmallRoot(packed, { 'etc/hello': 'hello' });
  const { child, says } = start(t, archive.file, folder);
  await says('unpacking');
  await says('ready');
  const root = new UnpackedRoot({ archive, folder });
  const mark = `${root.path}.whole`;
  while (readFileSync(mark, 'utf8') !== 'flushed') await setTimeout(10);
  for (const i of [1, 2]) {
    // Removed by a version without marks, or written in another boot by a machine with the same home folder.
    rmSync(mark, { force: true });
    if (i === 2) writeFileSync(mark, '6e7a3d9c-0d1c-4c5f-9a35-0f3f4d1e8b77');
    writeFileSync(join(root.path, 'etc/hello'), 'in use');
    await root.start(SILENT);
    await root.flushed;
    t.equal(readFileSync(join(root.path, 'etc/hello'), 'utf8'), 'in use');
    t.not(existsSync(mark) && readFileSync(mark, 'utf8'), 'flushed', 'it is not marked as complete');
    root.stop();
  }
  await end(child);
  await root.start(SILENT);
  t.equal(
    readFileSync(join(root.path, 'etc/hello'), 'utf8'),
    'hello',
    'it is unpacked again once it is not in use',
  );
  await root.flushed;
  root.stop();
});

t.test('a root that could not be flushed is unpacked again', { skip }, async (t) => {
  const { packed, folder } = place(t);
  const archive = packSmallRoot(packed, { 'etc/hello': 'hello' });
  const root = new UnpackedRoot({ archive, folder });
  await root.start(SILENT);
  await root.flushed;
  root.stop();

  writeFileSync(`${root.path}.whole`, readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
  copyFileSync('/usr/bin/false', join(root.path, 'usr/bin/sync'));
  await root.start(SILENT);
  await root.flushed;
  root.stop();
  let unpacked = false;
  const onProgress = () => {
    unpacked = true;
  };
  await root.start({ ...SILENT, onProgress });
  t.ok(unpacked);
  await root.flushed;
  root.stop();
});

t.test('without a boot id, a root is flushed before it is used', { skip }, async (t) => {
  const { packed, folder } = place(t);
  const archive = packSmallRoot(packed, { 'etc/hello': 'hello' });
  const withoutId = `
    import { promises } from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    const { readFile } = promises;
    promises.readFile = async (path, ...others) => {
      if (String(path).endsWith('/boot_id')) throw new Error('ENOENT');
      return readFile(path, ...others);
    };
    syncBuiltinESMExports();`;
  const options = ['--import', `data:text/javascript,${encodeURIComponent(withoutId)}`];
  const mark = join(folder, `root-${archive.name}.whole`);
  for (const expected of ['unpacking\nready\n', 'ready\n', 'unpacking\nready\n']) {
    // Nothing else keeps the program running during the flush.
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [...options, PROGRAM, archive.file, folder],
      { input: '', encoding: 'utf8' },
    );
    t.equal(stdout, expected, stderr);
    t.equal(status, 0);
    t.equal(readFileSync(mark, 'utf8'), 'flushed');
    if (expected === 'ready\n') rmSync(mark); // Without a mark the root counts as incomplete.
  }
});

t.test('unpacking can be aborted and leaves nothing', { skip }, async (t) => {
  const { packed, folder } = place(t);
  const archive = packSmallRoot(packed, { 'etc/hello': 'hello'.repeat(1_000_000) });
  const root = new UnpackedRoot({ archive, folder });
  const controller = new AbortController();
  const onProgress = () => controller.abort();
  await t.rejects(root.start({ ...SILENT, onProgress, signal: controller.signal }), { name: 'AbortError' });
  t.strictSame(
    readdirSync(folder).filter((name) => !name.endsWith('.lock')),
    [],
  );
});

t.test('a damaged program is rejected and leaves no root', { skip }, async (t) => {
  const { packed, folder } = place(t);
  const archive = packSmallRoot(packed, { 'etc/hello': 'hello'.repeat(1000) });
  const [{ offset, sizeBytes } = { offset: 0, sizeBytes: 0 }] = archive.segments;
  const damaged = readFileSync(archive.file);
  const middle = offset + Math.floor(sizeBytes / 2);
  damaged.writeUInt8(damaged.readUInt8(middle) ^ 1, middle);
  writeFileSync(archive.file, damaged);
  await t.rejects(new UnpackedRoot({ archive, folder }).start(SILENT), {
    message: `${archive.file} is damaged: its renderer doesn't match the build. Copy the file here again.`,
  });
  t.notOk(existsSync(join(folder, `root-${archive.name}`)));
});

t.test('too little disk space is reported before unpacking', { skip }, async (t) => {
  const { packed, folder } = place(t);
  const archive = { ...packSmallRoot(packed, {}), unpackedBytes: 1e15 };
  const expected = {
    message:
      /needs 1000000068 MB of free space\. Free some space, or choose another folder with SCENEPRESS_RENDERER_DIR/,
  };
  await t.rejects(new UnpackedRoot({ archive, folder }).start(SILENT), expected);
});

t.test('roots of other versions are removed once they are not in use', { skip }, async (t) => {
  const { packed, folder } = place(t);
  const old = packSmallRoot(packed, { 'etc/version': '1' });
  const { child, says } = start(t, old.file, folder);
  await says('unpacking');
  await says('ready');
  mkdirSync(join(packed, '2'));
  const archive = packSmallRoot(join(packed, '2'), { 'etc/version': '2' });
  const root = new UnpackedRoot({ archive, folder });
  await root.start(SILENT);
  t.equal(roots(folder).length, 2, 'a root in use is kept');
  root.stop();
  await end(child);
  await root.start(SILENT);
  t.strictSame(roots(folder), [`root-${archive.name}`]);
  await root.flushed;
  root.stop();
});

t.test('no archive is found in a file without one', async (t) => {
  t.equal(findArchive(process.execPath), undefined);
});

const roots = (folder: string) => readdirSync(folder).filter((name) => /^root-\w+$/.test(name));
const unfinished = (folder: string) => readdirSync(folder).filter((name) => name.startsWith('unfinished'));
