import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mock } from 'node:test';
import t, { type Test } from 'tap';
import { realDisk } from '../../../lib/files/disk.ts';
import { FileAssetStore } from '../../../lib/index.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

async function openStore(t: Test) {
  const root = testFolder(t, { 'in.mp4': '0123456789' });
  const store = new FileAssetStore(join(root, 'assets'));
  await store.start();
  return { store, root, file: { path: join(root, 'in.mp4'), contentType: 'video/mp4' } };
}

t.test('put replaces an existing file and leaves no partial one', async (t) => {
  const { store, file } = await openStore(t);
  await store.put('job/video.mp4', file);
  writeFileSync(file.path, 'new');
  await store.put('job/video.mp4', file);
  t.equal(readFileSync(store.path('job/video.mp4'), 'utf8'), 'new');
  t.same(readdirSync(join(store.path('job/video.mp4'), '..')), ['video.mp4']);
});

t.test('a deletion is flushed to the folder from which a name was removed', async (t) => {
  const { store, root, file } = await openStore(t);
  await store.put('job/video.mp4', file);
  await store.put('job/thumbnail.jpg', file);
  const syncFolder = mock.method(realDisk, 'syncFolder');
  t.teardown(() => syncFolder.mock.restore());
  const flushed = () => syncFolder.mock.calls.map(({ arguments: [folder] }) => folder);
  await store.delete('job/video.mp4');
  t.same(flushed(), [join(root, 'assets/job')]);
  syncFolder.mock.resetCalls();
  await store.delete('job/thumbnail.jpg');
  t.same(flushed(), [join(root, 'assets')]);
});

t.test('a deletion removes what a killed process left of the artifact', async (t) => {
  const { store, root } = await openStore(t);
  mkdirSync(join(root, 'assets/job'), { recursive: true });
  writeFileSync(`${store.path('job/video.mp4')}.new`, 'part');
  await store.delete('job/video.mp4');
  t.same(readdirSync(join(root, 'assets')), []);
});

t.test('a key that leads out of the store fails an assertion', async (t) => {
  const { store } = await openStore(t);
  for (const key of ['../x/y.mp4', 'a/../b.mp4', '/etc/passwd', 'a/b/c.mp4', 'a', '']) {
    await t.rejects(store.open(key), { code: 'ERR_ASSERTION' }, key);
  }
});

t.test('a file that cannot be stored is not left open', async (t) => {
  const folder = testFolder(t, { video: 'v', store: { job: { 'video.mp4.new': {} } } });
  const store = new FileAssetStore(join(folder, 'store'));
  const source = join(folder, 'video');
  await t.rejects(store.put('job/video.mp4', { path: source }), { code: 'EISDIR' });
  const open = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return ''; // The descriptor with which readdirSync read the folder.
    }
  });
  t.notOk(open.includes(source));
});
