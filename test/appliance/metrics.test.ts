import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import t from 'tap';
import dashboardFile from '../../appliance/metrics/dashboard.json' with { type: 'json' };
import { measureQueue } from '../../appliance/metrics/queue-metrics.ts';
import { countRenders } from '../../appliance/metrics/render-metrics.ts';
import type { DataPlace } from '../../appliance/place/data-place.ts';
import type { Machine, MachineStore } from '../../lib/cluster/machine-store.ts';
import type { RenderService } from '../../lib/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { scenepress } from './command.ts';
import { listeningAppliance, VALID } from './listening-appliance.ts';

const TOKEN = 'a-token-for-prometheus';
const authorization = `Bearer ${TOKEN}`;
/** A renderer that completes immediately without drawing. */
const INSTANT_PYTHON = join(import.meta.dirname, '..', 'fixtures', 'instant-renderer', 'bin', 'python');
const RENDERS = { metricsToken: TOKEN, python: INSTANT_PYTHON, insecureNoSandbox: true };

type Samples = Map<string, number>;

/** The values by name and labels, as written in the text. */
function samplesOf(text: string): Samples {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
}

t.test('/metrics gets 404 if no token is configured, and 401 without the token', async (t) => {
  const closed = await listeningAppliance(t);
  t.equal((await closed.ask('/metrics')).status, 404);
  const { ask } = await listeningAppliance(t, { metricsToken: TOKEN });
  for (const headers of [{}, { authorization: 'Bearer wrong' }, { authorization: `Basic ${TOKEN}` }]) {
    const refused = await ask('/metrics', { headers });
    t.equal(refused.status, 401);
    t.notMatch(refused.text, 'scenepress_');
  }
  const { status, headers } = await ask('/metrics', { headers: { authorization } });
  t.equal(status, 200);
  t.match(headers['content-type'], /^text\/plain; version=0\.0\.4/);
});

t.test('open and prematurely closed connections are counted', async (t) => {
  const { ask } = await listeningAppliance(t, { metricsToken: TOKEN });
  const { text } = await ask('/metrics', { headers: { authorization } });
  const samples = samplesOf(text);
  t.equal(samples.get('scenepress_http_connections'), 1, 'the connection of this request');
  for (const reason of ['evicted', 'refused', 'stalled']) {
    t.equal(samples.get(`scenepress_http_connections_closed_total{reason="${reason}"}`), 0);
  }
});

t.test('jobs, renders, credits, webhooks, requests and commits are counted', async (t) => {
  const { ask, askAs, post, key, service, log } = await listeningAppliance(t, RENDERS);
  const delivered = new Promise((resolve) => service.once('delivery', resolve));
  // Loopback addresses must not be called, so the attempt is blocked.
  const ended = [
    await post({ ...VALID, quality: 'low', webhookUrl: 'https://127.0.0.1:1/' }),
    await post({ ...VALID, quality: 'high' }),
    await post({ ...VALID, code: 'fail' }),
  ];
  const jobs = await Promise.all(ended.map(({ json }) => service.wait(String(json['jobId']))));
  const settledCredits = jobs.reduce((sum, { creditsCost }) => sum + creditsCost, 0);
  t.ok(settledCredits >= 2, 'each started second is charged');
  await delivered;
  await askAs(key, '/api/v2/render/nothing');
  await ask('/wp-login.php');
  const { text } = await ask('/metrics', { headers: { authorization } });
  const samples = samplesOf(text);
  const expected: Record<string, number> = {
    'jobs_enqueued_total{quality="low"}': 1,
    'jobs_enqueued_total{quality="medium"}': 1,
    'jobs_enqueued_total{quality="fourk"}': 0,
    'jobs_total{status="completed",quality="low"}': 1,
    'jobs_total{status="completed",quality="high"}': 1,
    'jobs_total{status="failed",quality="medium"}': 1,
    'jobs_failed_total{failed_by="scene"}': 1,
    'jobs_failed_total{failed_by="limit:time"}': 0,
    'render_attempts_total{quality="medium"}': 1,
    'queue_wait_seconds_count{quality="high"}': 1,
    'render_duration_seconds_count{status="completed",quality="high"}': 1,
    'render_duration_seconds_count{status="completed",quality="fourk"}': 0,
    'render_work_seconds_total{work="tex",quality="high"}': 0.001,
    'render_work_seconds_total{work="tex",quality="fourk"}': 0,
    'copied_frames_total{quality="high"}': 1,
    'copied_frames_total{quality="fourk"}': 0,
    'jobs{status="queued"}': 0,
    'jobs{status="running"}': 0,
    queue_oldest_seconds: 0,
    queue_paused: 0,
    ready: 1,
    disk_full: 0,
    'problem{part="artifacts"}': 0,
    book_problems: 0,
    'sandbox_info{level="none"}': 1,
    'workers{state="idle"}': 1,
    'workers{state="busy"}': 0,
    renderer_deaths_total: 0,
    credits_settled_total: settledCredits,
    // The reserve: five seconds of medium quality.
    credits_voided_total: 10,
    'webhook_attempts_total{result="blocked"}': 1,
    webhook_attempt_duration_seconds_count: 1,
    webhooks_due: 0,
    'http_requests_total{method="POST",route="/api/v2/render",status="202"}': 3,
    'http_requests_total{method="GET",route="/api/v2/render/{jobId}",status="404"}': 1,
    'http_requests_total{method="GET",route="/{p*}",status="404"}': 1,
    'http_request_duration_seconds_count{method="POST",route="/api/v2/render"}': 3,
  };
  for (const [name, value] of Object.entries(expected)) {
    t.equal(samples.get(`scenepress_${name}`), value, name);
  }
  t.ok((samples.get('scenepress_storage_group_commits_sum') ?? 0) >= 12, 'several commits for each job');
  t.ok((samples.get('scenepress_storage_flush_seconds_sum') ?? 0) > 0);
  t.ok((samples.get('scenepress_storage_bytes{file="database"}') ?? 0) > 0);
  t.ok((samples.get('scenepress_disk_bytes{part="free"}') ?? 0) > 0);
  t.match(log(), new RegExp(`"jobId":"${jobs[0]?.jobId}","status":"completed",.*"texMs":1,.*"msg":"job"`));
  t.notMatch(text, /ada@|acct_|127\.0\.0\.1|wp-login|svc_live/, 'no accounts, hosts or paths of clients');
});

t.test('the command line shows a server’s metrics without a token', async (t) => {
  const { dataDir } = await listeningAppliance(t);
  const { code, stdout } = await scenepress(['metrics', 'show', '--data-dir', dataDir]);
  t.equal(code, 0);
  t.match(stdout, /^scenepress_ready 1$/m);
  const without = await scenepress(['metrics', 'show', '--data-dir', await temporaryFolder(t)]);
  t.equal(without.code, 1);
  t.match(without.stderr, /need a running server.*scenepress serve/);
});

t.test('the dashboard queries only metrics that exist', async (t) => {
  const { stdout } = await scenepress(['metrics', 'dashboard']);
  const dashboard = JSON.parse(stdout) as {
    panels: { type: string; title: string; targets?: { expr: string }[]; gridPos: object }[];
  };
  t.strictSame(dashboard, dashboardFile);
  const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  const asked = new Set(
    expressions.flatMap((expr) => expr.match(/\b(?:scenepress|process|nodejs)_\w+/g) ?? []),
  );
  t.ok(asked.size > 25, 'the dashboard has queries');

  const { ask } = await listeningAppliance(t, { metricsToken: TOKEN });
  const { text } = await ask('/metrics', { headers: { authorization } });
  const types = [...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)];
  const there = new Set(
    types.flatMap(([, name, type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
  for (const name of asked) t.ok(there.has(name), name);
  const misnamed = types.filter(([, name = '', type]) => (type === 'counter') !== name.endsWith('_total'));
  t.same(misnamed, [], 'only counters are named _total, as promtool requires');
  const ofInstallation = [...text.matchAll(/^# HELP (\S+) .*Every process .* reports the same value\.$/gm)];
  t.equal(ofInstallation.length, 6);
  for (const [, name = ''] of ofInstallation) {
    const using = expressions.filter((expr) => new RegExp(`\\b${name}\\b`).test(expr));
    t.ok(using.length > 0 && using.every((expr) => expr.startsWith('max')), `the maximum of ${name}`);
  }
  const places = dashboard.panels.map(({ gridPos }) => JSON.stringify(gridPos));
  t.equal(new Set(places).size, places.length, 'no panels overlap');
});

t.test('the work that waits is measured in seconds per worker', async (t) => {
  const { ask, post, service } = await listeningAppliance(t, { ...RENDERS, workers: 2 });
  const seconds = async (quality: string) => {
    const { text } = await ask('/metrics', { headers: { authorization } });
    return samplesOf(text).get(`scenepress_queue_seconds{quality="${quality}"}`);
  };
  await service.pauseQueue();
  const waiting = [
    await post({ ...VALID, quality: 'low' }),
    await post({ ...VALID, quality: 'low' }),
    await post({ ...VALID, quality: 'low' }),
    await post({ ...VALID, quality: 'high' }),
  ];
  t.equal(await seconds('low'), 15, 'ten seconds are assumed of each, for two workers');
  t.equal(await seconds('high'), 5);
  t.equal(await seconds('fourk'), 0);
  await service.resumeQueue();
  await Promise.all(waiting.map(({ json }) => service.wait(String(json['jobId']))));
  t.equal(await seconds('low'), 0);
  await service.pauseQueue();
  await post({ ...VALID, quality: 'low' });
  const known = await seconds('low');
  t.ok(known !== undefined && known > 0 && known < 5, 'the mean of completed renders');
});

t.test('only workers of machines that are ready count for the work that waits', async (t) => {
  const machine = (state: Machine['state'], given: Partial<Machine> = {}) => ({
    roles: ['worker'],
    qualities: null,
    state,
    workers: 1,
    unseenForMs: 0,
    startedAtMs: 0,
    seenAtMs: 0,
    drainRequestedAtMs: null,
    ...given,
  });
  const machines = [
    machine('ready'),
    machine('ready'),
    machine('ready', { roles: ['api'] }),
    machine('ready', { qualities: ['high'] }),
    machine('ready', { unseenForMs: 31_000 }),
    machine('ready', { drainRequestedAtMs: 1 }),
    machine('starting', { workers: 7 }),
    machine('not ready', { workers: 7 }),
    machine('draining', { workers: 7 }),
  ];
  const place = {
    waitingWork: async () => [{ quality: 'low', waiting: 8, meanMs: 10_000 }],
    machineStore: { list: async () => machines },
  };
  const registry = new Registry();
  measureQueue(registry, place as unknown as DataPlace, {} as RenderService);
  t.match(await registry.metrics(), 'scenepress_queue_seconds{quality="low"} 40');
});

t.test('with a database, the running jobs of all processes are counted', async (t) => {
  const status = { queued: 3, running: 1, runningEverywhere: 5, workers: 4, warmWorkers: 4 };
  const service = Object.assign(new EventEmitter(), { status: () => ({ oldestQueuedAt: null, ...status }) });
  const runningWith = async (place: Pick<DataPlace, 'machineStore'>) => {
    const registry = new Registry();
    countRenders(registry, service as unknown as RenderService, {
      place: place as DataPlace,
      pricing: undefined,
    });
    return samplesOf(await registry.metrics()).get('scenepress_jobs{status="running"}');
  };
  t.equal(await runningWith({ machineStore: {} as MachineStore }), 5);
  t.equal(await runningWith({}), 1);
});
