// `scenepress mcp --server`: the tools of the command, by a service elsewhere.
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import t, { type Test } from 'tap';
import { RemoteEngine } from '../../../appliance/cli/remote-engine.ts';
import { RemoteService } from '../../../appliance/cli/remote-service.ts';
import { freePort } from '../../fixtures/free-port.ts';
import { processesBelow } from '../../fixtures/processes.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { MAIN, scenepress } from '../command.ts';
import { listen, oldService } from '../hostile-service.ts';
import { listeningAppliance } from '../listening-appliance.ts';
import { newClient, SCENE, textOf } from './clients.ts';

const PYTHON = join(import.meta.dirname, '../../fixtures/instant-renderer/bin/python');
const RENDER = { code: `${SCENE}# echo\n`, className: 'Hello' };

function appliance(t: Test) {
  return listeningAppliance(t, { python: PYTHON, insecureNoSandbox: true });
}

async function commandClient(t: Test, url: string, key: string, ...args: string[]) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, 'mcp', '--server', url, ...args],
    env: { PATH: process.env['PATH'] ?? '', XDG_CACHE_HOME: await temporaryFolder(t), SCENEPRESS_KEY: key },
    stderr: 'pipe',
  });
  const client = newClient('2026-07-28');
  t.teardown(() => client.close());
  let notes = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    notes += chunk;
  });
  await client.connect(transport);
  return { client, transport, notes: () => notes };
}

t.test('a client checks, inspects and renders by a service, without a renderer', async (t) => {
  const { url, key, ask } = await appliance(t);
  const { client, transport } = await commandClient(t, url, key);
  const { tools } = await client.listTools();
  t.same(
    tools.map(({ name }) => name),
    ['guide', 'check', 'inspect', 'render', 'job', 'files'],
  );
  const bad = `${SCENE}# fail: line 2: it is broken\n`;
  const found = await client.callTool({ name: 'check', arguments: { code: bad } });
  t.match(found.structuredContent, { ok: false, findings: [{ kind: 'scene:error', line: 2 }] });
  const inspected = await client.callTool({ name: 'inspect', arguments: { code: RENDER.code } });
  t.match(inspected.content, [
    { type: 'text', text: /^Nothing is wrong\.\nHello: [\s\S]*\nIt cost \d+ credit/ },
    { type: 'image', mimeType: 'image/jpeg', data: Buffer.from(RENDER.code).toString('base64') },
  ]);
  const told: unknown[] = [];
  const made = await client.callTool(
    { name: 'render', arguments: RENDER },
    { onprogress: ({ message }) => void told.push(message) },
  );
  t.match(textOf(made), /^Hello was rendered in .* It cost \d+ credits?\.\nVideo: http:/);
  t.ok(told.length > 0);
  const { video } = made.structuredContent as { video: string };
  t.match(video, new RegExp(`^${url}/artifacts/`));
  t.match(made.content[1], { type: 'resource_link', uri: video, mimeType: 'video/mp4', name: 'Hello.mp4' });
  t.match(await ask(new URL(video).pathname), { status: 200, text: RENDER.code });
  const failed = await client.callTool({ name: 'render', arguments: { ...RENDER, code: bad } });
  t.match(failed, { isError: true, content: [{ text: /It cost nothing\.\nline 2: error/ }] });
  const { contents } = await client.readResource({ uri: 'ui://scenepress/player' });
  t.match(contents, [{ _meta: { ui: { csp: { resourceDomains: [url] } } } }]);
  t.same(processesBelow(transport.pid ?? 0), [], 'no renderer was started');
});

t.test('renders can be waited for and canceled, and a call that is given up cancels its own', async (t) => {
  const { url, key, service } = await appliance(t);
  const { client } = await commandClient(t, url, key, '--wait', '1');
  const linger = { ...RENDER, code: `${SCENE}# linger\n` };
  const begun = await client.callTool({ name: 'render', arguments: linger });
  const { jobId } = begun.structuredContent as { jobId: string };
  t.match(textOf(begun), `Call the tool job with the jobId ${jobId}`);
  const canceled = await client.callTool({ name: 'job', arguments: { jobId, cancel: true } });
  t.match(canceled, { isError: true, structuredContent: { jobId, status: 'failed' } });
  t.match(await service.get(jobId), { failedBy: 'cancel' });
  const unknown = await client.callTool({ name: 'job', arguments: { jobId: 'none' } });
  t.match(unknown, { isError: true, content: [{ text: /404: There is no such job/ }] });

  const { client: patient } = await commandClient(t, url, key);
  const running = new Promise<string>((resolve) => {
    service.on('job', ({ jobId, status }) => status === 'running' && resolve(jobId));
  });
  const leaving = new AbortController();
  const call = patient.callTool({ name: 'render', arguments: linger }, { signal: leaving.signal });
  const left = await running;
  leaving.abort();
  await t.rejects(call);
  t.match(await service.wait(left), { status: 'failed', failedBy: 'cancel' });
});

t.test('a client that leaves cancels its render', async (t) => {
  const { url, key, service } = await appliance(t);
  const { client } = await commandClient(t, url, key);
  const running = new Promise<string>((resolve) => {
    service.on('job', ({ jobId, status }) => status === 'running' && resolve(jobId));
  });
  const call = client.callTool({ name: 'render', arguments: { ...RENDER, code: `${SCENE}# linger\n` } });
  const jobId = await running;
  await Promise.all([t.rejects(call), client.close()]);
  t.match(await service.wait(jobId), { status: 'failed', failedBy: 'cancel' });
});

t.test('a key has the tools of its scopes', async (t) => {
  const { url, installation } = await appliance(t);
  const { keys } = installation.administration;
  for (const [scopes, names] of [
    [['check'], ['guide', 'check', 'inspect']],
    [['read'], ['guide', 'job', 'files']],
  ] as const) {
    const { key } = await keys.create({ account: 'ada@example.org', name: 'Some', scopes: [...scopes] });
    const { client } = await commandClient(t, url, key);
    const { tools } = await client.listTools();
    t.same(
      tools.map(({ name }) => name),
      names,
    );
  }
});

t.test('files of a folder are kept for scenes, and none from elsewhere', async (t) => {
  const { url, key, service, installation } = await appliance(t);
  const folder = await temporaryFolder(t);
  await mkdir(join(folder, 'voices'));
  await writeFile(join(folder, 'voices/intro.txt'), 'Hello');
  await writeFile(join(folder, '.env'), 'SECRET=1');
  await symlink('/etc/hostname', join(folder, 'link.txt'));
  const { client } = await commandClient(t, url, key, '--folder', folder);
  const put = (path: string) =>
    client.callTool({ name: 'files', arguments: { action: 'put', name: 'intro.txt', path } });
  for (const [path, message] of [
    ['../other.txt', /There is no file|is not in/],
    ['/etc/hostname', /is not in/],
    ['link.txt', /is not in/],
    ['.env', /is hidden/],
    ['none.txt', /There is no file/],
    ['voices', /can't be read/],
  ] as const)
    t.match(await put(path), { isError: true, content: [{ text: message }] }, path);
  const kept = await put('voices/intro.txt');
  t.match(kept.structuredContent, { files: [{ name: 'intro.txt', kind: 'data', sizeBytes: 5 }] });
  const [{ fileId = '' } = {}] = (kept.structuredContent as { files: { fileId: string }[] }).files;
  const { accountId } = await installation.accounts.find('ada@example.org');
  const made = await client.callTool({
    name: 'render',
    arguments: { ...RENDER, files: { 'text.txt': fileId }, params: { size: 2 }, formats: ['gif'] },
  });
  const { jobId, files } = made.structuredContent as { jobId: string; files: unknown };
  t.match(await service.get(jobId), { owner: accountId, params: { size: 2 } });
  t.match((await service.filesOf(jobId)).files, [{ name: 'text.txt', fileId }]);
  t.match(files, [{ name: 'video.gif', url: new RegExp(`^${url}/artifacts/${jobId}/video\\.gif$`) }]);
  const listed = await client.callTool({ name: 'files', arguments: { action: 'list' } });
  t.match(listed.structuredContent, { files: [{ fileId }], next: null });
  await client.callTool({ name: 'files', arguments: { action: 'remove', fileId } });
  t.same(await service.files.list({ owner: accountId }), []);
  const { client: plain } = await commandClient(t, url, key);
  const refused = await plain.callTool({
    name: 'files',
    arguments: { action: 'put', name: 'a.txt', path: 'voices/intro.txt' },
  });
  t.match(refused, { isError: true, content: [{ text: /Unrecognized key: "path"/ }] });
});

t.test('a service that can not be reached yet is told by each call', async (t) => {
  const { client, notes } = await commandClient(t, `http://127.0.0.1:${await freePort()}`, 'k');
  t.equal((await client.listTools()).tools.length, 6);
  const refused = await client.callTool({ name: 'check', arguments: { code: SCENE } });
  t.match(refused, { isError: true, content: [{ text: /can't be reached: connect ECONNREFUSED/ }] });
  t.match(notes(), /The tools are listed as for a key that may do everything/);
});

t.test('what can never work ends the command', async (t) => {
  const { url, key } = await appliance(t);
  const mcp = (url: string, ...args: string[]) => scenepress(['mcp', '--server', url, ...args]);
  t.match(await mcp(url, '--key', `${key}0`), { code: 1, stdout: '', stderr: /: 401: .* --key KEY/ });
  t.match(await mcp(await oldService(t), '--key', 'k'), { code: 1, stderr: /it has no tools API/ });
  for (const flag of [
    ['--output-dir', '.'],
    ['--python', 'python3'],
  ])
    t.match(await mcp(url, '--key', key, ...flag), {
      code: 2,
      stderr: new RegExp(`A service has no ${flag[0]}: .* Leave out one`),
    });
});

t.test('what a service tells of jobs is not trusted', async (t) => {
  const job = {
    ...{ jobId: 'j', className: 'Hello', status: 'completed', durationMs: 1, creditsCost: 1, error: null },
    ...{ diagnosis: null, plays: [] },
  };
  const notes: string[] = [];
  const resultsOf = async (told: object) => {
    const url = await listen(t, (_, response) => void response.end(JSON.stringify(told)));
    const service = new RemoteService({ url, key: 'k', artifacts: [] }, { mostBytes: 1000, attempts: 1 });
    return new RemoteEngine(service, { origins: [], note: (text) => notes.push(text) }).results('j');
  };
  const video = 'https://files.example.org/v';
  for (const told of [
    7,
    { ...job, result: { video: 'file:///etc/passwd', thumbnail: video } },
    { ...job, result: { video: 'javascript:alert(1)', thumbnail: video } },
    { ...job, result: { video, thumbnail: video, gif: 'javascript:alert(1)' } },
    { ...job, plays: 'none', result: null },
  ])
    await t.rejects(resultsOf(Object(told)), { message: /what this version doesn't know/ });
  await t.rejects(resultsOf({ ...job, result: null }), { message: /the job has no video/ });
  t.match(await resultsOf({ ...job, result: { video, thumbnail: `${video}t` } }), {
    ...{ videoUrl: video, thumbnail: null },
  });
  t.match(notes, [/its files from https:\/\/files\.example\.org\. .*--artifacts/]);
});
