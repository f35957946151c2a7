import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { findRoot } from '../../../../lib/render/environment/renderer-root.ts';
import { ensureRenderer } from '../../../../lib/render/setup/ensure-renderer.ts';
import { cannotUnpack, packSmallRoot } from '../../../fixtures/packed-root.ts';
import { testFolder } from '../../../fixtures/test-folder.ts';

const RENDERER = join(import.meta.dirname, '../../../../renderer');
const PACKAGES = 'usr/local/lib/python3.13/dist-packages';
const [, MANIM] = /^manim==(\S+)/m.exec(readFileSync(join(RENDERER, 'requirements.lock'), 'utf8')) ?? [];
const skip = cannotUnpack();

function place(t: Test, contents: Record<string, string> = {}) {
  const packed = join(testFolder(t, {}), 'packed');
  mkdirSync(packed);
  const { file } = packSmallRoot(packed, {
    [`${PACKAGES}/manim-${MANIM}.dist-info/METADATA`]: '',
    ...contents,
  });
  return { file, tree: join(packed, 'tree'), folder: join(packed, '../several') };
}

const roots = (folder: string) => readdirSync(folder).filter((name) => /^root-[\w-]+$/.test(name));

async function set(t: Test, name: string, value: string | undefined): Promise<void> {
  const before = process.env[name];
  t.teardown(() => {
    if (before === undefined) delete process.env[name];
    else process.env[name] = before;
  });
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}

t.test(
  'a renderer is unpacked from the single executable, with the sources of this package',
  { skip },
  async (t) => {
    const { file, folder } = place(t, { 'usr/lib/scenepress/scene_renderer/old.py': '' });
    const fractions: (number | null)[] = [];
    const found = await ensureRenderer({
      archive: file,
      folder,
      onProgress: ({ fraction }) => fractions.push(fraction),
    });
    t.equal(fractions.at(-1), 1);
    t.ok('root' in found);
    const sources = join('root' in found ? found.root : '', 'usr/lib/scenepress');
    t.notOk(existsSync(join(sources, 'scene_renderer/old.py')));
    for (const name of ['scene_renderer/zygote.py', 'scenes'])
      t.ok(existsSync(join(sources, name)) && existsSync(join(RENDERER, name)), name);
  },
);

t.test('the next time, it is found within 50 ms, with and without the archive', { skip }, async (t) => {
  const { file, folder } = place(t);
  const first = await ensureRenderer({ archive: file, folder });
  const onProgress = () => t.fail('nothing is to be done');
  for (const options of [{ folder, archive: file }, { folder }]) {
    const times: number[] = [];
    for (let i = 0; i < 5; i++) {
      const start = performance.now();
      t.same(await ensureRenderer({ ...options, onProgress }), first);
      times.push(performance.now() - start);
    }
    t.ok(Math.min(...times) < 50, `${times} ms`);
  }
});

t.test('a root of build:root is unpacked, too', { skip }, async (t) => {
  const { tree, folder } = place(t);
  const archive = join(folder, '../root-0-z3.tar.zst');
  const tar = join(folder, '../root.tar');
  execFileSync('tar', ['--create', '--file', tar, '--directory', tree, '.']);
  execFileSync('zstd', ['-q', '-3', tar, '-o', archive]);
  const found = await ensureRenderer({ archive, folder });
  t.ok('root' in found && existsSync(join(found.root, 'usr/lib/scenepress/scene_renderer')));
  const damaged = readFileSync(archive);
  const middle = Math.floor(damaged.length / 2);
  damaged.writeUInt8(damaged.readUInt8(middle) ^ 1, middle);
  writeFileSync(archive, damaged);
  rmSync(folder, { recursive: true });
  await t.rejects(ensureRenderer({ archive, folder }), {
    code: 'renderer_unavailable',
    message: /is damaged: its renderer doesn't match the build/,
  });
  t.same(roots(folder), []);
});

t.test('one of several concurrent calls unpacks', { skip }, async (t) => {
  const { file, folder } = place(t, { 'etc/large': 'hello'.repeat(1_000_000) });
  const messages = new Set<string>();
  const onProgress = ({ message }: { message: string }) => void messages.add(message);
  const options = { archive: file, folder, onProgress };
  const found = await Promise.all([1, 2, 3].map(() => ensureRenderer(options)));
  t.same(new Set(found.map((each) => JSON.stringify(each))).size, 1);
  t.same([...messages].sort(), ['Unpacking the renderer', 'Waiting for another set-up to finish']);
  t.equal(roots(folder).length, 1);
});

t.test('a service finds it by default, and otherwise names the command', { skip }, async (t) => {
  const { file, folder } = place(t);
  await t.rejects(findRoot({ folder }), {
    code: 'renderer_unavailable',
    message: `There is no renderer of this version in ${folder}. Set it up with \`npx scenepress setup\` or ensureRenderer(), or name a Python environment with Manim (SCENEPRESS_PYTHON).`,
  });
  await set(t, 'SCENEPRESS_RENDERER_DIR', folder);
  await set(t, 'SCENEPRESS_PYTHON', undefined);
  const found = await ensureRenderer({ archive: file });
  t.ok('root' in found && found.root.startsWith(folder));
  t.equal((await findRoot({ folder })).tree, 'root' in found && found.root);
});

t.test('on other machines the renderer is refused, with what to use instead', async (t) => {
  const machines = [
    ['darwin', 'arm64'],
    ['linux', 'arm64'],
    ['win32', 'x64'],
  ] as const;
  for (const [platform, arch] of machines) {
    t.intercept(process, 'platform', { value: platform });
    t.intercept(process, 'arch', { value: arch });
    const refusal = {
      code: 'renderer_unavailable',
      message: new RegExp(
        `^Renders need Linux on x64; this is ${platform} on ${arch}\\. .*scenepress/client`,
      ),
    };
    await t.rejects(findRoot({ root: '/missing' }), refusal);
    await t.rejects(findRoot({ python: '/missing' }), refusal);
    await t.rejects(ensureRenderer({ archive: '/missing' }), refusal);
  }
});

t.test('roots of other versions are kept, because other projects may use them', { skip }, async (t) => {
  const { file, folder } = place(t);
  mkdirSync(join(folder, 'root-1234'), { recursive: true });
  await ensureRenderer({ archive: file, folder });
  t.ok(existsSync(join(folder, 'root-1234')));
});

t.test('an aborted set-up rejects with its reason and leaves no root', { skip }, async (t) => {
  const { file, folder } = place(t, { 'etc/large': 'hello'.repeat(1_000_000) });
  const controller = new AbortController();
  const reason = new Error('not today');
  const onProgress = () => controller.abort(reason);
  await t.rejects(ensureRenderer({ archive: file, folder, onProgress, signal: controller.signal }), reason);
  t.same(roots(folder), []);
  await t.rejects(ensureRenderer({ folder, signal: controller.signal }), reason, 'also before it begins');
});

t.test('files that are not archives of this version are refused', { skip }, async (t) => {
  const { file, folder } = place(t, { [`${PACKAGES}/numpy-1.0.dist-info/METADATA`]: '' });
  const refused = (archive: string, message: RegExp) =>
    t.rejects(ensureRenderer({ archive, folder }), { code: 'renderer_unavailable', message });
  await refused(
    file,
    /program has numpy 1\.0, but this version of scenepress needs \S+\. Use an archive of the same/,
  );
  t.same(
    readdirSync(folder).filter((name) => !name.endsWith('.lock')),
    [],
    'nothing is left',
  );
  await refused(join(folder, 'absent'), /The archive \S+absent can't be read \(ENOENT\)\./);
  await refused(
    import.meta.filename,
    /ensure-renderer\.deep\.test\.ts contains no renderer\. Name the single executable/,
  );
});

t.test('an archive whose module was compiled from other sources is refused', { skip }, async (t) => {
  const module = `${PACKAGES}/scenepress_native.so`;
  const other = place(t, { [module]: 'ELF 0123abcd' });
  await t.rejects(ensureRenderer({ archive: other.file, folder: other.folder }), {
    code: 'renderer_unavailable',
    message:
      /program has a module scenepress_native\.so of another version of scenepress\. Use an archive of the same/,
  });
  const [, functions] =
    /^INTERFACE = "(\w+)"$/m.exec(readFileSync(join(RENDERER, 'scene_renderer/native.py'), 'utf8')) ?? [];
  const same = place(t, { [module]: `ELF ${functions}` });
  t.ok('root' in (await ensureRenderer({ archive: same.file, folder: same.folder })));
});
