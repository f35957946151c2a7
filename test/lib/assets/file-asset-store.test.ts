import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { FileAssetStore } from '../../../lib/index.ts';

async function openStore(t: Test) {
  const root = t.testdir({ 'in.mp4': '0123456789' });
  const store = new FileAssetStore(join(root, 'assets'));
  await store.start();
  return { store, root, file: { path: join(root, 'in.mp4'), contentType: 'video/mp4' } };
}

t.test('what is put can be read, as a whole and in part', async (t) => {
  const { store, file } = await openStore(t);
  t.same(await store.put('job/video.mp4', file), { sizeBytes: 10 });
  const whole = await store.open('job/video.mp4');
  t.match(whole, { sizeBytes: 10, path: store.path('job/video.mp4') });
  t.equal(whole && (await text(whole.stream)), '0123456789');
  const part = await store.open('job/video.mp4', { start: 2, end: 4 });
  t.equal(part?.sizeBytes, 10);
  t.equal(part && (await text(part.stream)), '234');
});

t.test('putting again replaces, and nothing half-written stays', async (t) => {
  const { store, file } = await openStore(t);
  await store.put('job/video.mp4', file);
  writeFileSync(file.path, 'new');
  await store.put('job/video.mp4', file);
  t.equal(readFileSync(store.path('job/video.mp4'), 'utf8'), 'new');
  t.same(readdirSync(join(store.path('job/video.mp4'), '..')), ['video.mp4']);
});

t.test('a link is not followed', async (t) => {
  const { store, root } = await openStore(t);
  symlinkSync(join(root, 'in.mp4'), join(root, 'link.mp4'));
  await t.rejects(store.put('job/video.mp4', { path: join(root, 'link.mp4') }), { code: 'ELOOP' });
  t.equal(await store.open('job/video.mp4'), undefined);
});

t.test('what isn’t there is undefined, and deleting it no error', async (t) => {
  const { store, file } = await openStore(t);
  t.equal(await store.open('job/video.mp4'), undefined);
  await store.delete('job/video.mp4');
  await store.put('job/video.mp4', file);
  await store.delete('job/video.mp4');
  t.equal(await store.open('job/video.mp4'), undefined);
});

t.test('a key that leads elsewhere is a mistake of the program', async (t) => {
  const { store } = await openStore(t);
  for (const key of ['../x/y.mp4', 'a/../b.mp4', '/etc/passwd', 'a/b/c.mp4', 'a', '']) {
    await t.rejects(store.open(key), { code: 'ERR_ASSERTION' }, key);
  }
});
