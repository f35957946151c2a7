import t from 'tap';
import type { MachineInfo } from '../../appliance/admin/service-views.ts';
import { run } from '../fixtures/postgres/database.ts';
import { type Cluster, cluster, enqueue, newKey, until } from './machines.ts';

async function phaseOf({ schema }: Cluster, jobId: string) {
  const [job] = await run<{ phase: string; attempts: string }>(
    `SELECT phase, attempts FROM jobs WHERE job_id = '${jobId}'`,
    { schema },
  );
  return job;
}

function ends(machines: Cluster, jobId: string) {
  return until(async () => (await phaseOf(machines, jobId))?.phase === 'completed');
}

function begins(machines: Cluster, jobId: string) {
  return until(async () => (await phaseOf(machines, jobId))?.phase === 'running');
}

t.test('a drained machine finishes its renders while others take the new ones', async (t) => {
  const machines = await cluster(t);
  const server = await machines.start('serve', ['--roles', 'api,upkeep', '--machine-name', 'front']);
  const first = await machines.start('worker', ['--machine-name', 'first']);
  const key = await newKey(machines);
  const long = await enqueue(server, key, 'linger');
  await begins(machines, long);
  const second = await machines.start('worker', ['--machine-name', 'second', '--quality', 'medium,high']);

  const listed = await machines.json<MachineInfo[]>(['machine', 'list']);
  t.match(listed, [
    { name: 'front', roles: ['api', 'upkeep'], state: 'ready', workers: 0 },
    { name: 'first', roles: ['worker'], qualities: null, workers: 1 },
    { name: 'second', qualities: ['medium', 'high'], state: 'ready', workers: 1 },
  ]);
  const text = (await machines.run(['machine', 'list'])).stdout;
  t.match(text, /^front +\w{8} +ready +api,upkeep +- /m);
  t.match(text, /^second +\w{8} +ready +worker \(medium,high\) +0 of 1 busy, 1 warm/m);
  t.match(
    (await machines.run(['status'])).stdout,
    /No machine has the role sender: no webhooks are sent[\s\S]*Jobs +1 running, 0 queued/,
  );

  const drained = await machines.run(['machine', 'drain', 'first']);
  t.equal(drained.code, 0, drained.stderr);
  await until(async () => (await first.get('/health/ready')).status === 503);
  const low = await enqueue(server, key, 'of a quality that the other does not render', { quality: 'low' });
  await ends(machines, await enqueue(server, key, 'a short one'));
  t.match(await phaseOf(machines, low), { phase: 'queued' });
  t.match(await phaseOf(machines, long), { phase: 'running' });
  first.release();
  t.equal(await first.ended, 0);
  t.match(await phaseOf(machines, long), { phase: 'completed', attempts: '1' });
  t.same(
    (await machines.json<MachineInfo[]>(['machine', 'list'])).map(({ name }) => name),
    ['front', 'second'],
  );
  const limited = (await machines.run(['queue', 'show'])).stdout;
  t.match(limited, /^Queue +running\nWarnings +No machine renders the quality low: such jobs wait\.\n/);
  await machines.run(['machine', 'drain', 'second']);
  t.equal(await second.ended, 0);
  const stopped = (await machines.run(['queue', 'show'])).stdout;
  t.match(stopped, /^Queue +not paused\nWarnings +No machine has the role worker: nothing is rendered\.\n/);
});

t.test('a stopped worker hands its jobs to another at once', async (t) => {
  const machines = await cluster(t);
  const server = await machines.start('serve', ['--roles', 'api,upkeep']);
  const first = await machines.start('worker');
  const key = await newKey(machines);
  const jobId = await enqueue(server, key, 'linger');
  await begins(machines, jobId);
  const second = await machines.start('worker');
  const stoppedAtMs = performance.now();
  first.kill('SIGTERM');
  t.equal(await first.ended, 0);
  await begins(machines, jobId);
  t.ok(performance.now() - stoppedAtMs < 20_000, 'before the lease ends');
  second.release();
  await ends(machines, jobId);
  t.match(await phaseOf(machines, jobId), { phase: 'completed', attempts: '1' });
});

t.test('a dead machine is shown and can be forgotten', async (t) => {
  const machines = await cluster(t);
  const worker = await machines.start('worker', ['--machine-name', 'render-1']);
  const other = await machines.start('worker', ['--machine-name', 'render-1']);
  const ambiguous = await machines.run(['machine', 'forget', 'render-1']);
  t.match(ambiguous.stderr, /Several machines have the name render-1\. Use an id: \w{8}, \w{8}\./);
  other.kill('SIGTERM');
  await other.ended;
  const alive = await machines.run(['machine', 'forget', 'render-1']);
  t.match(alive, { code: 1, stderr: /The machine render-1 \(\w{8}\) is alive: .*drain it with/ });
  worker.kill('SIGKILL');
  await worker.ended;
  await run("UPDATE machines SET seen_at = seen_at - interval '31 seconds'", { schema: machines.schema });
  t.match(await machines.json<MachineInfo[]>(['machine', 'list']), [{ name: 'render-1', state: 'dead' }]);
  t.match((await machines.run(['machine', 'drain', 'render-1'])).stderr, /is dead\. Forget it instead\./);
  t.match(
    (await machines.run(['machine', 'forget', 'render-1'])).stdout,
    /^render-1 \(\w{8}\) is no longer listed\.$/m,
  );
  t.same(await machines.json(['machine', 'list']), []);
  t.match((await machines.run(['machine', 'forget', 'render-1'])).stderr, /There is no machine render-1\./);
});
