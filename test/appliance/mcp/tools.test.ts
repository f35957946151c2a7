import t, { type Test } from 'tap';
import { fakeRenderService } from '../../../lib/testing/index.ts';
import { instantService } from '../../fixtures/instant-service.ts';
import { ASSET_URL, REVISIONS, SCENE, serviceClient, textOf } from './clients.ts';

const RENDER = { code: SCENE, className: 'Hello', quality: 'low' };

/** Its jobs leave a small picture. */
async function fakeService(t: Test, options: Parameters<typeof fakeRenderService>[0] = {}) {
  const service = fakeRenderService(options);
  t.teardown(() => service.stop());
  await service.start();
  return service;
}

for (const revision of REVISIONS)
  t.test(`a client of ${revision} renders a scene`, async (t) => {
    const client = await serviceClient(t, await fakeService(t), { revision });
    t.equal(client.getNegotiatedProtocolVersion(), revision);
    const progress: (string | undefined)[] = [];
    const made = await client.callTool(
      { name: 'render', arguments: RENDER },
      { onprogress: ({ message }) => void progress.push(message) },
    );
    const { jobId } = made.structuredContent as { jobId: string };
    const video = `${ASSET_URL}/artifacts/${jobId}/video.mp4`;
    t.match(made.content, [
      { type: 'text', text: /^Hello was rendered in \d+\.\d s\. It cost 0 credits\.\nVideo: https:/ },
      { type: 'resource_link', uri: video, mimeType: 'video/mp4', name: 'Hello.mp4' },
      { type: 'image', mimeType: 'image/jpeg', data: /^\/9j\// },
    ]);
    t.match(made.structuredContent, { className: 'Hello', status: 'completed', video, plays: [] });
    t.notOk(made.isError);
    t.equal(progress[0], 'Finishing: 15 frames, 1.0 s of video');
  });

t.test('the tools have a fixed order, and refuse unknown members', async (t) => {
  const client = await serviceClient(t, await fakeService(t));
  const { tools } = await client.listTools();
  t.same(
    tools.map(({ name }) => name),
    ['guide', 'check', 'inspect', 'render', 'job', 'files'],
  );
  for (const { name, inputSchema } of tools) {
    t.equal(inputSchema['additionalProperties'], false, name);
    const refused = await client.callTool({ name, arguments: { surprise: 1 } });
    t.equal(refused.isError, true);
    t.match(textOf(refused), /Unrecognized key: "surprise"/);
  }
  const wrong = await client.callTool({ name: 'render', arguments: { ...RENDER, quality: 'best' } });
  t.match(textOf(wrong), /quality/);
});

t.test('a server that is read-only has no tools that cost something', async (t) => {
  const client = await serviceClient(t, await fakeService(t), { isReadOnly: true });
  const { tools } = await client.listTools();
  t.same(
    tools.map(({ name }) => name),
    ['guide', 'check'],
  );
  await t.rejects(client.callTool({ name: 'render', arguments: RENDER }), /render/);
});

t.test('a key has the tools of its scopes', async (t) => {
  const service = await fakeService(t);
  const named = { owner: 'ada', keyId: null, keyPrefix: 'ada', webhookUrl: null };
  for (const [scopes, names] of [
    [['check'], ['guide', 'check', 'inspect']],
    [['render'], ['guide', 'render', 'job', 'files']],
    [['read'], ['guide', 'job', 'files']],
  ] as const) {
    const client = await serviceClient(t, service, { caller: { ...named, scopes } });
    const { tools } = await client.listTools();
    t.same(
      tools.map(({ name }) => name),
      names,
    );
  }
  const reader = await serviceClient(t, service, { caller: { ...named, scopes: ['read'] } });
  const { jobId } = await service.enqueue({ owner: 'ada', code: SCENE, className: 'Hello' });
  const refused = await reader.callTool({ name: 'job', arguments: { jobId, cancel: true } });
  t.match([refused.isError, textOf(refused)], [true, /lacks the scope render/]);
  t.match(await service.wait(jobId), { status: 'completed' });
  await t.rejects(reader.callTool({ name: 'render', arguments: RENDER }), /render/);
});

t.test('pictures can be left out of results', async (t) => {
  const client = await serviceClient(t, await fakeService(t), { hasPictures: false });
  const made = await client.callTool({ name: 'render', arguments: RENDER });
  t.same(
    made.content.map(({ type }) => type),
    ['text', 'resource_link'],
  );
});

t.test('the guide has a text for each of its topics', async (t) => {
  const client = await serviceClient(t, await fakeService(t));
  const { tools } = await client.listTools();
  const { topic } = (tools[0]?.inputSchema.properties ?? {}) as { topic?: { enum: string[] } };
  t.equal(topic?.enum[0], 'scene');
  for (const name of topic?.enum ?? []) {
    const text = textOf(await client.callTool({ name: 'guide', arguments: { topic: name } }));
    t.match(text, /^# /, 'it begins with a heading');
  }
  t.match(textOf(await client.callTool({ name: 'guide' })), /class \w+\(Scene\)/);
});

t.test('a check tells each finding with its line', async (t) => {
  const client = await serviceClient(t, await instantService(t));
  const code = `${SCENE}# fail: line 2: it is broken\n`;
  const bad = await client.callTool({ name: 'check', arguments: { code, className: 'Hello' } });
  t.notOk(bad.isError, 'the check itself succeeded');
  t.match(textOf(bad), /^line 2: error: line 2: it is broken/);
  t.match(bad.structuredContent, { ok: false, findings: [{ kind: 'scene:error', line: 2, hint: null }] });
});

t.test('a check runs the scenes, or only reads them', async (t) => {
  const failureOf = ({ code }: { code: string }) => (code.includes('1/0') ? 'ZeroDivisionError' : undefined);
  const client = await serviceClient(t, await fakeService(t, { failureOf }));
  for (const noRun of [false, true]) {
    const check = (code: string) => client.callTool({ name: 'check', arguments: { code, noRun } });
    const good = await check(SCENE);
    t.same(good.structuredContent, { ok: true, findings: [] });
    t.equal(textOf(good), 'Nothing is wrong.');
    t.match(textOf(await check(`${SCENE}    1/0\n`)), 'error: ZeroDivisionError [scene:error]');
  }
});

t.test('a scene that fails is a result with its diagnosis', async (t) => {
  const client = await serviceClient(t, await instantService(t));
  const code = `${SCENE}# fail: line 2: it is broken\n`;
  const failed = await client.callTool({ name: 'render', arguments: { ...RENDER, code } });
  t.equal(failed.isError, true);
  t.match(
    textOf(failed),
    /^Hello failed after \d+\.\d s\. It cost nothing\.\nline 2: error: line 2: it is broken/,
  );
  t.match(failed.structuredContent, { status: 'failed', video: null });
});

t.test('an inspection has a contact sheet', async (t) => {
  const client = await serviceClient(t, await instantService(t));
  const found = await client.callTool({ name: 'inspect', arguments: { code: `${SCENE}# echo\n` } });
  t.match(found.content, [
    { type: 'text', text: /^Nothing is wrong\.\nHello: 0 plays, 1\.0 s/ },
    { type: 'image' },
  ]);
  t.equal(found.structuredContent, undefined);
});

t.test('a render that takes longer is continued with its job', async (t) => {
  const service = await fakeService(t, { renderMs: 60_000 });
  const client = await serviceClient(t, service, { waitMs: 1 });
  const begun = await client.callTool({ name: 'render', arguments: RENDER });
  const { jobId } = begun.structuredContent as { jobId: string };
  t.match(textOf(begun), `Call the tool job with the jobId ${jobId} to wait for its end.`);
  t.notOk(begun.isError);
  const waited = await client.callTool({ name: 'job', arguments: { jobId } });
  t.match(waited.structuredContent, { jobId, status: /queued|running/, video: null });

  const other = await serviceClient(t, service, { owner: 'eve' });
  for (const cancel of [false, true]) {
    const refused = await other.callTool({ name: 'job', arguments: { jobId, cancel } });
    t.equal(refused.isError, true);
    t.equal(textOf(refused), 'There is no such job.', 'that of another account');
  }
  t.match(await service.get(jobId), { status: /queued|running/ });

  const canceled = await client.callTool({ name: 'job', arguments: { jobId, cancel: true } });
  t.match(textOf(canceled), /Canceled$/);
  t.match(canceled.structuredContent, { status: 'failed' });
});

t.test('a call that is given up cancels its render', async (t) => {
  const service = await fakeService(t, { renderMs: 60_000 });
  const client = await serviceClient(t, service);
  const given = new AbortController();
  const call = client.callTool({ name: 'render', arguments: RENDER }, { signal: given.signal });
  const running = new Promise<string>((resolve) => {
    service.on('job', ({ jobId, status }) => status === 'running' && resolve(jobId));
  });
  const jobId = await running;
  given.abort();
  await t.rejects(call);
  t.match(await service.wait(jobId), { status: 'failed', failedBy: 'cancel' });
});

t.test('waits end when the server stops, and renders continue', async (t) => {
  const service = await fakeService(t, { renderMs: 60_000 });
  const stopping = new AbortController();
  const client = await serviceClient(t, service, { stopping: stopping.signal });
  service.once('job', () => stopping.abort());
  const { structuredContent } = await client.callTool({ name: 'render', arguments: RENDER });
  t.match(structuredContent, { status: /queued|running/ });
});

t.test('clients are not told what is wrong with the machine', async (t) => {
  const service = await fakeService(t);
  const client = await serviceClient(t, service);
  await service.stop();
  const refused = await client.callTool({ name: 'render', arguments: RENDER });
  t.equal(refused.isError, true);
  t.match(textOf(refused), /can't accept this request now/);
});

t.test('the player may load videos from the origin of their links', async (t) => {
  const client = await serviceClient(t, await fakeService(t));
  const { tools } = await client.listTools();
  const uri = 'ui://scenepress/player';
  for (const { name, _meta } of tools)
    t.same(_meta?.['ui'], ['render', 'job'].includes(name) ? { resourceUri: uri } : undefined, name);
  t.match(client.getServerCapabilities()?.extensions, { 'io.modelcontextprotocol/ui': {} });
  const { contents } = await client.readResource({ uri });
  t.match(contents, [
    {
      mimeType: 'text/html;profile=mcp-app',
      text: /^<!doctype html>/,
      _meta: { ui: { csp: { resourceDomains: [ASSET_URL] } } },
    },
  ]);
  await t.rejects(client.readResource({ uri: 'file:///etc/passwd' }), 'videos are not sent');
});
