import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { rootForCommand } from '../../appliance/packed/own-root.ts';
import { UnpackedRoot } from '../../lib/render/setup/unpacked-root.ts';
import { noMounts, whereMounted } from '../fixtures/mounts.ts';
import { cannotUnpack, packSmallRoot } from '../fixtures/packed-root.ts';
import { testFolder } from '../fixtures/test-folder.ts';

const SILENT = { onProgress: () => {}, onWait: () => {} };
const OWN_ROOT = join(import.meta.dirname, '../../appliance/packed/own-root.ts');
const skip = cannotUnpack();

function place(t: Test) {
  const folder = testFolder(t, { packed: {} });
  const archive = packSmallRoot(join(folder, 'packed'), {});
  const [rendererDir, dataDir] = [join(folder, 'renderer'), join(folder, 'data')];
  const roots = () => readdirSync(rendererDir).filter((name) => name !== 'unpacking.lock');
  return { archive, rendererDir, dataDir, roots };
}

t.test('a root that the doctor unpacks is removed when it ends', { skip }, async (t) => {
  const { archive, rendererDir, dataDir, roots } = place(t);
  const root = await rootForCommand({ rendererDir, dataDir }, { lasting: false, archive });
  await root?.start(SILENT);
  t.ok(root && existsSync(root.path));
  await root?.end();
  t.strictSame(roots(), []);
});

t.test('a root that render unpacks is kept, and the doctor uses it', { skip }, async (t) => {
  const { archive, rendererDir, dataDir } = place(t);
  const lasting = await rootForCommand({ rendererDir, dataDir }, { lasting: true, archive });
  await lasting?.start(SILENT);
  await lasting?.end();
  const root = await rootForCommand({ rendererDir, dataDir }, { lasting: false, archive });
  await root?.start({ ...SILENT, onProgress: () => t.fail('the root was unpacked again') });
  await root?.end();
  t.ok(root && existsSync(root.path));
  // Each flushes the root that is not yet marked as flushed, and then changes the mark.
  await Promise.all([lasting?.flushed, root?.flushed]);
});

t.test('the doctor uses the root of the service if there is one', { skip }, async (t) => {
  const { archive, dataDir } = place(t);
  mkdirSync(dataDir);
  const served = new UnpackedRoot({ archive, folder: join(dataDir, 'renderer') });
  await served.start(SILENT);
  await served.flushed;
  served.stop();
  const root = await rootForCommand({ dataDir }, { lasting: false, archive });
  t.equal(root?.path, served.path);
  await root?.end();
  t.ok(existsSync(served.path));
});

t.test('a root in use by another process is not removed', { skip }, async (t) => {
  const { archive, rendererDir, dataDir } = place(t);
  const root = await rootForCommand({ rendererDir, dataDir }, { lasting: false, archive });
  await root?.start(SILENT);
  const other = new UnpackedRoot({ archive, folder: rendererDir });
  await other.start(SILENT);
  await other.flushed;
  await root?.end();
  t.ok(existsSync(other.path));
  other.stop();
});

t.test('programs are put beside the renderer if /tmp is mounted noexec', { skip: noMounts() }, (t) => {
  const TMPDIR = testFolder(t, { 'a folder': {} });
  const source = `
    import { programsFolder } from ${JSON.stringify(pathToFileURL(OWN_ROOT))};
    console.log(await programsFolder({ folder: '/beside' }), await programsFolder(undefined));`;
  t.equal(whereMounted('noexec', TMPDIR, source, { TMPDIR }), `/beside ${TMPDIR}\n`);
  const elsewhere = join(TMPDIR, 'a folder');
  t.equal(whereMounted('noexec', elsewhere, source, { TMPDIR }), `${TMPDIR} ${TMPDIR}\n`);
  t.equal(whereMounted('noexec', elsewhere, source, { TMPDIR: elsewhere }), `/beside ${elsewhere}\n`);
  t.end();
});
