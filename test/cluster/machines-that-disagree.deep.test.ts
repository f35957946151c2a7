import t from 'tap';
import type { MachineInfo } from '../../appliance/admin/service-views.ts';
import { run } from '../fixtures/postgres/database.ts';
import { cluster, enqueue, newKey, until } from './machines.ts';

const HUNDREDFOLD = { SCENEPRESS_CREDITS_PER_SECOND: '100,100,100,100,100' };

t.test('a worker with other prices renders nothing until no machine has the former ones', async (t) => {
  const machines = await cluster(t);
  const server = await machines.start('serve', ['--roles', 'api,sender,upkeep', '--machine-name', 'front']);
  const worker = await machines.start('worker', ['--machine-name', 'dear'], HUNDREDFOLD);
  const key = await newKey(machines);
  const jobId = await enqueue(server, key, 'x');
  const health = await worker.get('/health/ready');
  t.equal(health.status, 503);
  const PROBLEM =
    /--credits-per-second is 100,100,100,100,100 here, but [\d.,]+ on the machines that work\. Correct .* restart/;
  t.match(await health.json(), { problems: [{ part: 'configuration', message: PROBLEM }] });
  t.match(worker.stderr(), /"disagreements":\[\{"name":"creditsPerSecond".*"machines":\["front"\]/);

  const listed = await machines.json<MachineInfo[]>(['machine', 'list']);
  t.match(listed, [
    { name: 'front', state: 'ready' },
    { name: 'dear', state: 'not ready' },
  ]);
  t.match(listed[1]?.differences, [{ name: 'creditsPerSecond', value: '100,100,100,100,100' }]);
  for (const command of [['machine', 'list'], ['status']]) {
    const { stdout } = await machines.run(command);
    t.match(stdout, /^\* dear \(\w{8}\): --credits-per-second is 100,.* on most machines /m);
  }
  const { stdout } = await machines.run(['doctor', '--json'], HUNDREDFOLD);
  const { findings } = JSON.parse(stdout) as { findings: { check: string }[] };
  t.match(
    findings.find(({ check }) => check === 'Machines'),
    { status: 'warning', message: /--credits-per-second is 100,.* here, but [\d.,]+ on front/ },
  );
  const job = async () =>
    (
      await run<{ phase: string; credits_cost: string }>(
        `SELECT phase, credits_cost FROM jobs WHERE job_id = '${jobId}'`,
        { schema: machines.schema },
      )
    )[0];
  t.match(await job(), { phase: 'queued' });

  server.kill('SIGTERM');
  t.equal(await server.ended, 0);
  await until(async () => (await worker.get('/health/ready')).status === 200);
  await until(async () => (await job())?.phase === 'completed');
});

t.test('a server with another public URL accepts no jobs beside one that works', async (t) => {
  const machines = await cluster(t);
  await machines.start('serve', ['--roles', 'api,upkeep']);
  const other = await machines.start('serve', [
    '--roles',
    'api,upkeep',
    '--public-url',
    'https://other.example.org',
  ]);
  const key = await newKey(machines);
  t.equal((await other.post(key, { className: 'A', code: 'x' })).status, 503);
  t.match(await (await other.get('/health/ready')).json(), {
    problems: [
      {
        message: /--public-url is https:\/\/other\.example\.org here, but https:\/\/render\.example\.org on/,
      },
    ],
  });
});

t.test('limits may differ, and are marked', async (t) => {
  const machines = await cluster(t);
  for (const name of ['one', 'two'])
    await machines.start('worker', ['--machine-name', name], { SCENEPRESS_RENDER_MEMORY_MB: '1024' });
  const third = await machines.start('worker', ['--machine-name', 'large', '--render-memory-mb', '4096']);
  t.equal((await third.get('/health/ready')).status, 200);
  const { stdout } = await machines.run(['machine', 'list']);
  t.match(stdout, /^large .* [+-]\d\.\d s +1 unusual \*/m);
  t.match(stdout, /^one .* s +usual /m);
  t.match(stdout, /^\* large \(\w{8}\): --render-memory-mb is 4096, on most machines 1024$/m);
  t.match(stdout, /^No machine has the role sender: no webhooks are sent\.$/m);
  t.match(stdout, /^No machine has the role api: no requests are accepted\.$/m);
});
