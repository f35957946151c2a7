/** Two servers on one Postgres behind a balancer, which gives each connection to the next, and a machine that renders. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { httpClient, REVISIONS, SCENE, textOf } from '../appliance/mcp/clients.ts';
import { roundRobin } from '../fixtures/round-robin.ts';
import { cluster, newKey, until } from './machines.ts';

interface Job {
  jobId: string;
  status: string;
  failure: { kind: string } | null;
}
interface Answer {
  status: number;
  json: Record<string, unknown>;
  /** Of the server that has answered. */
  port: number;
}
const HELLO = { code: SCENE, className: 'Hello' };
const LINGERING = { code: `${SCENE}# linger`, className: 'Hello' };

const machines = await cluster(t);
const ROLES = ['--roles', 'api,sender,upkeep'];
const one = await machines.start('serve', ROLES);
const other = await machines.start('serve', ROLES);
const worker = await machines.start('serve', ['--roles', 'api,worker']);
const key = await newKey(machines);
await machines.run(['credits', 'grant', '--account', 'ada@example.org', '--paid', '1000']);
const { url, chosen } = await roundRobin(t, [one.port, other.port]);

/** Opens a connection of its own. */
async function open(
  path: string,
  { method = 'GET', headers = {}, body }: { method?: string; headers?: object; body?: object } = {},
): Promise<IncomingMessage> {
  const sent = request(`${url}${path}`, {
    ...{ method, agent: false },
    headers: { authorization: `Bearer ${key}`, ...headers },
  });
  sent.end(body && JSON.stringify(body));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return response;
}

async function ask(path: string, how: Parameters<typeof open>[1] = {}): Promise<Answer> {
  const response = await open(`/api/tools/v1${path}`, how);
  const port = chosen.at(-1) ?? 0;
  return { status: response.statusCode ?? 0, json: JSON.parse(await text(response)), port };
}

async function added(scene: object): Promise<Job & { port: number }> {
  const { json, port } = await ask('/jobs', { method: 'POST', body: scene });
  return { ...(json as unknown as Job), port };
}

/** Resolves when a job is running. */
async function runs(jobId: string): Promise<void> {
  await until(async () => (await ask(`/jobs/${jobId}`)).json['status'] === 'running');
}

/** Resolves when a server has got the last connection, so that the next one is to the other. */
async function lastAt(port: number): Promise<void> {
  await until(async () => (await ask('/usage')).port === port);
}

/** A stream of events, read until it has them. */
async function stream(path: string, headers: object = {}) {
  const response = await open(`/api/tools/v1${path}`, { headers });
  let seen = '';
  response.setEncoding('utf8').on('error', () => {});
  response.on('data', (chunk: string) => {
    seen += chunk;
    response.emit('more');
  });
  const closed = new Promise<true>((resolve) => response.once('close', () => resolve(true)));
  return {
    port: chosen.at(-1) ?? 0,
    lastId: () => [...seen.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? '',
    closed,
    close: () => response.destroy(),
    until: async (wanted: RegExp) => {
      while (!wanted.test(seen)) {
        const more = new Promise<void>((resolve) => response.once('more', resolve));
        if ((await Promise.race([more, closed])) && !wanted.test(seen))
          throw new Error(`the stream ended: ${seen}`);
      }
      return seen;
    },
  };
}

t.test('a batch is added once, though it is repeated at the other server', async (t) => {
  const batch = { method: 'POST', headers: { 'idempotency-key': 'one' }, body: { jobs: [HELLO, HELLO] } };
  const first = await ask('/jobs/batch', batch);
  const again = await ask('/jobs/batch', batch);
  t.equal(first.status, 202);
  t.not(first.port, again.port);
  const idsOf = ({ json }: Answer) => (json['jobs'] as Job[]).map(({ jobId }) => jobId);
  t.strictSame(idsOf(again), idsOf(first));
  const refused = await ask('/jobs/batch', { ...batch, body: { jobs: [HELLO] } });
  t.equal(refused.status, 409);
});

t.test('a job is canceled at the other server', async (t) => {
  const { jobId, port } = await added(LINGERING);
  await runs(jobId);
  await lastAt(port);
  const canceled = await ask(`/jobs/${jobId}/cancel`, { method: 'POST' });
  t.not(canceled.port, port);
  t.match(canceled, { status: 200, json: { status: 'failed', failure: { kind: 'canceled' } } });
});

t.test('a server without workers says that it draws nothing', async (t) => {
  for (const _ of [one, other])
    t.match(await ask('/check', { method: 'POST', body: HELLO }), {
      status: 503,
      json: { message: /no renderer.*ask another/ },
    });
});

t.test('pictures that one server has drawn are served by the others', async (t) => {
  const response = await fetch(`http://127.0.0.1:${worker.port}/api/tools/v1/still`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify(HELLO),
  });
  const { still } = (await response.json()) as { still: { url: string } };
  const { origin, pathname } = new URL(still.url);
  t.equal(origin, 'https://render.example.org');
  const ports = new Set<number>();
  for (const _ of [one, other]) {
    const picture = await open(pathname);
    ports.add(chosen.at(-1) ?? 0);
    t.equal(picture.statusCode, 200);
    t.equal(picture.headers['content-type'], 'image/png');
    t.ok((await text(picture)).length > 0);
  }
  t.equal(ports.size, 2);
});

t.test('a job is waited for at the other server', async (t) => {
  const { jobId, port } = await added(LINGERING);
  await runs(jobId);
  await lastAt(port);
  const connections = chosen.length;
  const waiting = ask(`/jobs/${jobId}/wait?seconds=60`);
  await until(async () => chosen.length > connections);
  worker.release();
  const { status, json, port: at } = await waiting;
  t.match({ status, json }, { status: 200, json: { status: 'completed' } });
  t.not(at, port);
});

for (const revision of REVISIONS)
  t.test(`a client of MCP ${revision} is answered by both servers in turns`, async (t) => {
    const from = chosen.length;
    const client = await httpClient(t, `${url}/mcp`, {
      revision,
      headers: { authorization: `Bearer ${key}`, connection: 'close' },
    });
    t.ok((await client.listTools()).tools.length > 2);
    const made = await client.callTool({ name: 'render', arguments: HELLO });
    t.match(textOf(made), /^Hello was rendered in/);
    const { jobId } = made.structuredContent as { jobId: string };
    const jobs = await Promise.all([1, 2].map(() => client.callTool({ name: 'job', arguments: { jobId } })));
    for (const job of jobs) t.match(job.structuredContent, { status: 'completed' });
    t.equal(new Set(chosen.slice(from)).size, 2);
  });

t.test('both servers know the same usage', async (t) => {
  const [first, second] = [await ask('/usage'), await ask('/usage')];
  t.not(first.port, second.port);
  t.match(first.json, { days: [{ completed: 5, failures: { canceled: 1 } }] });
  t.strictSame(first.json, second.json);
});

t.test('events are resumed at the other server when the first one is killed', async (t) => {
  const all = await stream('/events');
  await all.until(/^event: open$/m);
  const killed = all.port === one.port ? one : other;
  const first = await added(HELLO);
  await all.until(new RegExp(`"jobId":"${first.jobId}".*"status":"completed"`));

  worker.hold();
  const lingering = await added(LINGERING);
  await runs(lingering.jobId);
  await lastAt(killed === one ? other.port : one.port);
  const ofJob = await stream(`/jobs/${lingering.jobId}/events`);
  t.equal(ofJob.port, killed.port);
  await ofJob.until(/^event: job$/m);
  t.equal(ofJob.lastId(), 'running-1');
  killed.kill('SIGKILL');
  await Promise.all([all.closed, ofJob.closed, killed.ended]);

  // Both end without a follower; the account may run one job at a time.
  worker.release();
  const meanwhile = await added(HELLO);
  t.not(meanwhile.port, killed.port);
  const ended = await ask(`/jobs/${meanwhile.jobId}/wait?seconds=60`);
  t.match(ended, { status: 200, json: { status: 'completed' } });
  const resumed = await stream('/events', { 'last-event-id': all.lastId() });
  t.not(resumed.port, killed.port);
  t.notMatch(
    await resumed.until(new RegExp(`"jobId":"${meanwhile.jobId}".*"status":"completed"`)),
    /event: gap/,
  );
  resumed.close();
  const resumedOfJob = await stream(`/jobs/${lingering.jobId}/events`, { 'last-event-id': ofJob.lastId() });
  await resumedOfJob.until(/^id: completed-1$/m);
  await resumedOfJob.closed;
});
