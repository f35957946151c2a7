import { once } from 'node:events';
import { connect } from 'node:net';
import { pino } from 'pino';
import t from 'tap';
import { Appliance } from '../../appliance/app/appliance.ts';
import { loadConfig } from '../../appliance/config/config.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { serve } from './command.ts';
import { IDLE_PYTHON, send, VALID } from './listening-appliance.ts';

/** Longer than the interval within which two signals count as one. */
const LATER_MS = 1_100;

async function withKey(server: Awaited<ReturnType<typeof serve>>) {
  const key = /svc_live_[0-9a-f]{48}/.exec(server.stdout())?.[0];
  return { authorization: `Bearer ${key}` };
}

/** Posts a job and waits until it runs. Returns its id. */
async function running(port: number, request: Parameters<typeof send>[2]): Promise<unknown> {
  const { jobId } = (await send(port, '/api/v2/render', request)).json;
  const { headers = {} } = request;
  const status = async () => (await send(port, `/api/v2/render/${jobId}`, { headers })).json['status'];
  while ((await status()) !== 'running');
  return jobId;
}

t.test('SIGTERM and SIGINT end the service with exit code 0, and jobs are kept', async (t) => {
  const dataDir = await temporaryFolder(t);
  const first = await serve(t, ['--data-dir', dataDir]);
  const headers = await withKey(first);
  const body = JSON.stringify(VALID);
  const { jobId } = (await send(first.port, '/api/v2/render', { method: 'POST', headers, body })).json;
  first.kill('SIGTERM');
  t.equal(await first.ended, 0);
  t.match(first.stderr(), '"msg":"stopped"');

  const second = await serve(t, ['--data-dir', dataDir]);
  const { status, json } = await send(second.port, `/api/v2/render/${jobId}`, { headers });
  t.match(
    { status, json },
    { status: 200, json: { jobId, status: /^(queued|running)$/, completedAt: null } },
  );
  second.kill('SIGINT');
  t.equal(await second.ended, 0);
});

t.test('a request in progress is completed', async (t) => {
  const server = await serve(t, ['--data-dir', await temporaryFolder(t)]);
  const { authorization } = await withKey(server);
  const body = JSON.stringify(VALID);
  const socket = connect(server.port, '127.0.0.1').setEncoding('utf8');
  await once(socket, 'connect');
  const head = `POST /api/v2/render HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nExpect: 100-continue\r\n`;
  socket.write(`${head}Content-Length: ${body.length}\r\n\r\n`);
  t.match(await once(socket, 'data'), [/^HTTP\/1\.1 100/]);
  server.kill('SIGTERM');
  await server.says(/"msg":"stopping"/);
  socket.write(body);
  t.match(await once(socket, 'data'), [/^HTTP\/1\.1 202/]);
  t.equal(await server.ended, 0);
});

t.test('while renders finish, jobs can be read and new requests get 503', async (t) => {
  const env = { SCENEPRESS_DRAIN_SECONDS: '3600' };
  const server = await serve(t, ['--data-dir', await temporaryFolder(t)], { env });
  const headers = await withKey(server);
  const request = { method: 'POST', headers, body: JSON.stringify(VALID) };
  const jobId = await running(server.port, request);
  server.kill('SIGTERM');
  await server.says(/"msg":"stopping"/);
  const refused = await send(server.port, '/api/v2/render', request);
  t.equal(refused.status, 503);
  t.match(refused.headers, { 'retry-after': /^\d+$/ });
  t.match(await send(server.port, `/api/v2/render/${jobId}`, { headers }), { status: 200 });
  const { status, json } = await send(server.port, '/health/ready', {});
  t.match(
    { status, json },
    { status: 503, json: { status: 'not ready', problems: [{ part: 'service', message: /stopping/ }] } },
  );
  t.match(await send(server.port, '/health/live', {}), { status: 200 });
  t.notMatch(server.stderr(), 'request failed', 'rejected requests are not logged as failures');
});

t.test('two signals within a second count as one; a later one ends the service immediately', async (t) => {
  const env = { SCENEPRESS_DRAIN_SECONDS: '3600' };
  const server = await serve(t, ['--data-dir', await temporaryFolder(t)], { env });
  const headers = await withKey(server);
  const request = { method: 'POST', headers, body: JSON.stringify(VALID) };
  await running(server.port, request);
  server.kill('SIGINT');
  server.kill('SIGINT'); // As npm forwards it.
  await server.says(/"msg":"stopping"/);
  server.kill('SIGTERM');
  await server.says(
    /Stopping: waiting up to 3600 s for 1 running render\. Press Ctrl-C again to stop immediately\./,
  );
  t.equal((await send(server.port, '/health/live', {})).status, 200, 'it continues to drain');
  // On a busy machine the service may receive two signals closer together than they were sent.
  const again = setInterval(() => server.kill('SIGTERM'), LATER_MS);
  t.equal(await server.ended, 143);
  clearInterval(again);
});

t.test(
  'a signal after the renderer has started, but before the service is ready, aborts the start',
  async (t) => {
    const flags = {
      port: 0,
      dataDir: await temporaryFolder(t),
      python: IDLE_PYTHON,
      insecureNoSandbox: true,
    };
    const told = new AbortController();
    const write = (line: string) => line.includes('Scenes are rendered') && told.abort();
    const appliance = new Appliance(loadConfig({ flags, env: {} }), pino({}, { write }));
    t.teardown(() => appliance.stop());
    await t.rejects(appliance.start({ signal: told.signal }), { name: 'AbortError' });
  },
);

t.test('SIGTERM prints no hint about Ctrl-C', async (t) => {
  const server = await serve(t, ['--data-dir', await temporaryFolder(t)]);
  server.kill('SIGTERM');
  t.equal(await server.ended, 0);
  t.notMatch(server.stdout(), /Ctrl-C/);
});
