import t, { type Test } from 'tap';
import { type FakeRenderServiceOptions, fakeRenderService } from '../../../lib/testing/index.ts';
import { ASSET_URL, SCENE, serviceClient, textOf } from './clients.ts';

const RENDER = { code: SCENE, className: 'Hello', quality: 'low' };

async function startedService(t: Test, options: FakeRenderServiceOptions = {}) {
  const service = fakeRenderService(options);
  t.teardown(() => service.stop());
  await service.start();
  return service;
}

t.test('files are kept, listed, rendered with and removed', async (t) => {
  const service = await startedService(t);
  const client = await serviceClient(t, service);
  const files = (given: Record<string, unknown>) => client.callTool({ name: 'files', arguments: given });
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  const kept = await files({ action: 'put', name: 'brand/logo.png', base64: png.toString('base64') });
  t.match(kept.structuredContent, {
    files: [{ name: 'brand/logo.png', kind: 'picture', sizeBytes: png.length }],
  });
  await files({ action: 'put', name: 'data.csv', text: 'a,b\n' });
  const listed = await files({ action: 'list' });
  t.match(listed.structuredContent, {
    files: [{ name: 'brand/logo.png' }, { name: 'data.csv' }],
    next: null,
  });
  t.match(textOf(listed), /^brand\/logo\.png: picture, \d+ bytes, \w+\n/);
  const inFolder = await files({ action: 'list', folder: 'brand', after: 'brand/a' });
  t.match(inFolder.structuredContent, { files: [{ name: 'brand/logo.png' }] });

  const [{ fileId = '' } = {}] = (kept.structuredContent as { files: { fileId: string }[] }).files;
  const made = await client.callTool({
    name: 'render',
    arguments: { ...RENDER, files: { 'mark.png': fileId } },
  });
  const { jobId } = made.structuredContent as { jobId: string };
  t.match((await service.filesOf(jobId, { owner: 'ada' })).files, [{ name: 'mark.png', fileId }]);

  const removed = await files({ action: 'remove', fileId });
  t.equal(textOf(removed), 'It is removed.');
  t.match((await files({ action: 'list' })).structuredContent, { files: [{ name: 'data.csv' }] });
  t.match(await files({ action: 'remove', fileId }), { isError: true });
});

t.test('a file that is none is refused', async (t) => {
  const service = await startedService(t);
  const client = await serviceClient(t, service);
  const put = (given: Record<string, unknown>) =>
    client.callTool({ name: 'files', arguments: { action: 'put', ...given } });
  for (const [given, message] of [
    [{ name: 'a.txt' }, /its name and one of text, base64\.$/],
    [{ text: 'a' }, /its name and one of/],
    [{ name: 'a.txt', text: 'a', base64: 'YQ==' }, /one of/],
    [{ name: 'a.txt', base64: '§' }, /is not base64/],
    [{ name: 'a.txt', path: '/etc/passwd' }, /Unrecognized key: "path"/],
    [{ name: '../a.txt', text: 'a' }, /name/],
    [{ name: 'a.png', text: 'no picture' }, /not that of a \.png file/],
    [{ name: 'a.txt', text: 'a'.repeat(600_000) }, /text/],
    [{ name: 'a.txt', text: 'ä'.repeat(400_000) }, /at most 512 KiB/],
  ] as const) {
    const refused = await put(given);
    t.match([refused.isError, textOf(refused)], [true, message]);
  }
  t.match(await client.callTool({ name: 'files', arguments: { action: 'remove' } }), { isError: true });
  t.same(await service.files.list({ owner: 'ada' }), []);
});

t.test('a key that may only read lists files, and those of its account only', async (t) => {
  const service = await startedService(t);
  const { fileId } = await service.files.put({ owner: 'ada', name: 'a.txt', content: 'a' });
  const caller = { owner: 'ada', keyId: null, keyPrefix: 'ada', webhookUrl: null, scopes: ['read'] as const };
  const reader = await serviceClient(t, service, { caller: { ...caller, scopes: ['read'] } });
  const call = (client: typeof reader, given: Record<string, unknown>) =>
    client.callTool({ name: 'files', arguments: given });
  t.match((await call(reader, { action: 'list' })).structuredContent, { files: [{ fileId }] });
  for (const action of ['put', 'remove'])
    t.match(await call(reader, { action }), { isError: true, content: [{ text: /action/ }] });
  const { tools } = await reader.listTools();
  t.match(tools.find(({ name }) => name === 'files')?.annotations, { readOnlyHint: true });

  const other = await serviceClient(t, service, { owner: 'eve' });
  t.match((await call(other, { action: 'list' })).structuredContent, { files: [] });
  t.match(await call(other, { action: 'remove', fileId }), { isError: true });
  const foreign = { ...RENDER, files: { 'a.txt': fileId } };
  t.match(await other.callTool({ name: 'render', arguments: foreign }), { isError: true });
  t.equal((await service.files.list({ owner: 'ada' })).length, 1);
});

t.test('a scene gets its parameters, and makes other formats', async (t) => {
  const service = await startedService(t);
  const client = await serviceClient(t, service);
  const params = { language: 'de', steps: [1, 2] };
  const made = await client.callTool({
    name: 'render',
    arguments: { ...RENDER, params, formats: ['gif', 'last-frame'] },
  });
  const { jobId, files } = made.structuredContent as { jobId: string; files: unknown };
  t.same(files, [
    { name: 'video.gif', url: `${ASSET_URL}/artifacts/${jobId}/video.gif` },
    { name: 'last-frame.png', url: `${ASSET_URL}/artifacts/${jobId}/last-frame.png` },
  ]);
  t.match(textOf(made), `video.gif: ${ASSET_URL}/artifacts/${jobId}/video.gif\n`);
  t.match(await service.get(jobId), { params });
  const unknown = await client.callTool({ name: 'render', arguments: { ...RENDER, formats: ['avi'] } });
  t.match([unknown.isError, textOf(unknown)], [true, /formats/]);
  for (const name of ['check', 'inspect']) {
    const asked = await client.callTool({ name, arguments: { code: SCENE, params } });
    t.notOk(asked.isError, name);
    const refused = await client.callTool({ name, arguments: { code: SCENE, params: [1] } });
    t.match([refused.isError, textOf(refused)], [true, /params/]);
  }
});
