import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import t, { type Test } from 'tap';
import { deepTest } from '../../fixtures/depth.ts';
import { processesBelow, stillRunning } from '../../fixtures/processes.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { MAIN } from '../command.ts';
import { newClient, SCENE, textOf } from './clients.ts';

const PYTHON = join(import.meta.dirname, '../../fixtures/instant-renderer/bin/python');
const INSTANT = ['--python', PYTHON, '--insecure-no-sandbox'];
const RENDER = { code: `${SCENE}# echo\n`, className: 'Hello' };

async function commandClient(t: Test, args: string[]) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, 'mcp', ...INSTANT, ...args],
    env: { PATH: process.env['PATH'] ?? '', XDG_CACHE_HOME: await temporaryFolder(t) },
  });
  const client = newClient('2026-07-28');
  t.teardown(() => client.close());
  await client.connect(transport);
  return client;
}

t.test('videos are files, which a player can read', async (t) => {
  const folder = join(await temporaryFolder(t), 'videos');
  const client = await commandClient(t, ['--output-dir', folder]);
  const path = join(folder, 'Hello.mp4');
  const uri = pathToFileURL(path).href;
  const made = await client.callTool({ name: 'render', arguments: RENDER });
  t.match(textOf(made), `Video: ${path}\n`);
  t.match(made.content[1], { type: 'resource_link', uri, size: RENDER.code.length });
  t.match(made.structuredContent, { status: 'completed', creditsCost: null, video: uri });
  t.equal(readFileSync(path, 'utf8'), RENDER.code, 'what the renderer of this test makes');
  const { contents } = await client.readResource({ uri });
  t.match(contents, [{ mimeType: 'video/mp4', blob: Buffer.from(RENDER.code).toString('base64') }]);
  await t.rejects(client.readResource({ uri: pathToFileURL(MAIN).href }), 'another file');
});

t.test('other formats are files beside the video, and there is no account', async (t) => {
  const folder = await temporaryFolder(t);
  const client = await commandClient(t, ['--output-dir', folder]);
  const { tools } = await client.listTools();
  t.notOk(tools.some(({ name }) => name === 'files'));
  const made = await client.callTool({
    name: 'render',
    arguments: { ...RENDER, formats: ['gif'], params: { size: 2 } },
  });
  const url = pathToFileURL(join(folder, 'Hello.gif')).href;
  t.match(made.structuredContent, { status: 'completed', files: [{ name: 'Hello.gif', url }] });
  t.match(textOf(made), `Hello.gif: ${url}\n`);
  t.ok(existsSync(join(folder, 'Hello.gif')));
  const refused = await client.callTool({ name: 'render', arguments: { ...RENDER, files: {} } });
  t.match([refused.isError, textOf(refused)], [true, /Unrecognized key: "files"/]);
});

t.test('jobs can be waited for and canceled', async (t) => {
  const options = ['--wait', '1', '--image-responses', 'omit', '--output-dir', join(MAIN, 'videos')];
  const client = await commandClient(t, options);
  const render = (how: string) =>
    client.callTool({ name: 'render', arguments: { ...RENDER, code: `${SCENE}# ${how}\n` } });
  const begun = await render('linger');
  const { jobId, status } = begun.structuredContent as { jobId: string; status: string };
  t.match(status, /queued|running/);
  const canceled = await client.callTool({ name: 'job', arguments: { jobId, cancel: true } });
  t.match(canceled, { isError: true, structuredContent: { jobId, status: 'failed' } });
  const again = await client.callTool({ name: 'job', arguments: { jobId } });
  t.match(textOf(again), 'Canceled', 'the job is remembered');
  const unknown = await client.callTool({ name: 'job', arguments: { jobId: 'none' } });
  t.match(unknown, { isError: true, content: [{ text: /no such job/ }] });
  const failed = await render('fail: line 2: it is broken');
  t.match(failed, { isError: true, content: [{ text: /line 2: error/ }] });
  const unwritten = await render('echo');
  t.match(unwritten, { isError: true, content: [{ text: /videos can't be written.*--output-dir/ }] });
  const found = await client.callTool({ name: 'inspect', arguments: RENDER });
  t.same(
    found.content.map(({ type }) => type),
    ['text'],
    'pictures are omitted',
  );
});

deepTest(t, '--read-only leaves the tools that cost and write nothing', async (t) => {
  const client = await commandClient(t, ['--read-only']);
  const { tools } = await client.listTools();
  t.same(
    tools.map(({ name }) => name),
    ['guide', 'check'],
  );
});

t.test('standard output is the protocol only, and the command ends with its input', async (t) => {
  const folder = await temporaryFolder(t);
  const child = spawn(process.execPath, [MAIN, 'mcp', ...INSTANT, '--output-dir', folder], {
    env: { PATH: process.env['PATH'], XDG_CACHE_HOME: folder, TMPDIR: folder },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  const output = Promise.all([text(child.stdout), text(child.stderr)]);
  const answered = once(child.stdout, 'data');
  const say = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  say({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  });
  await answered;
  say({ method: 'notifications/initialized' });
  const renders = once(child.stdout, 'data');
  const _meta = { progressToken: 'one' };
  const code = `${SCENE}# sketch\n`;
  say({ id: 2, method: 'tools/call', params: { name: 'render', arguments: { ...RENDER, code }, _meta } });
  await renders;
  const processes = processesBelow(child.pid ?? 0);
  t.ok(processes.length > 0);
  child.stdin.end();
  t.same(await ended, [0, null], 'while a scene is rendered');
  const [stdout, stderr] = await output;
  const messages = stdout.trim().split('\n');
  for (const line of messages) t.match(JSON.parse(line), { jsonrpc: '2.0' });
  t.match(JSON.parse(messages[1] ?? ''), {
    method: 'notifications/progress',
    params: { progressToken: 'one' },
  });
  t.equal(stderr, '');
  t.same(stillRunning(processes), [], 'no process is left');
});

deepTest(t, 'a missing renderer is told to the client', async (t) => {
  const client = await commandClient(t, ['--python', join(await temporaryFolder(t), 'python')]);
  const failed = await client.callTool({ name: 'check', arguments: { code: SCENE } });
  t.match(failed, { isError: true });
  t.match(textOf(failed), /python/i);
});
