import { once } from 'node:events';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { listeningAppliance } from '../appliance/listening-appliance.ts';
import { peopledAppliance } from '../dashboard/browser.ts';
import { signedIn } from '../dashboard/client.ts';
import { newSchema, run, serverUrl } from '../fixtures/postgres/database.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { MASTER_KEY } from './machines.ts';

const INSTANT_PYTHON = join(import.meta.dirname, '../fixtures/instant-renderer/bin/python');

/** Options of the servers of a new installation. */
async function newInstallation(t: Test) {
  return {
    databaseUrl: await serverUrl(),
    databaseSchema: newSchema(),
    databaseConnections: 4,
    masterKey: MASTER_KEY,
    artifactDir: await temporaryFolder(t),
    publicUrl: 'https://render.example.org',
  };
}

t.test('the dashboard shows and drains machines, and jobs that they render', async (t) => {
  const shared = await newInstallation(t);
  const api = await peopledAppliance(t, { ...shared, roles: ['api', 'upkeep'], machineName: 'front' });
  const worker = await listeningAppliance(t, {
    ...shared,
    roles: ['worker'],
    machineName: '<b>render</b>',
    python: INSTANT_PYTHON,
  });
  const client = await signedIn(t, api.port, api.admin);
  const page = async () => (await client.get('/dashboard/service')).text;
  t.match(await page(), /front<span[\s\S]*&lt;b&gt;render&lt;\/b&gt;<span[\s\S]*0 of 1 busy/);
  t.match(await page(), /No machine has the role sender/);
  t.match(await page(), /The data is in a Postgres database: back it up/);
  t.notMatch(await page(), /Back up and download/);
  t.match(await page(), /For diagnosis, use .*scenepress credits audit/);
  t.notMatch(await page(), /scenepress recover/);

  const { accountId } = await api.installation.accounts.find(api.admin);
  const heard = once(api.service, 'remoteJob');
  const { jobId } = await api.service.enqueue({ owner: accountId, className: 'A', code: 'linger' });
  t.match(await heard, [{ jobId, owner: accountId, status: 'running' }]);
  t.match((await client.get(`/dashboard/jobs/${jobId}`)).text, /Running/);
  t.match((await client.get('/dashboard/overview')).text, /1 worker/);
  const code = 'class Base(MovingCameraScene):\n  pass\nclass Part:\n  pass\n';
  const { text: scenes } = await client.post('/dashboard/playground/scenes', { code });
  t.same(JSON.parse(scenes), { scenes: ['Base'] });
  t.equal((await client.post('/dashboard/playground', { code, className: '' })).status, 303);
  t.match((await client.post(`/dashboard/jobs/${jobId}/cancel`, {})).status, 303);
  t.match(await api.service.wait(jobId), { error: 'Canceled' });

  const [machine] = await run<{ machine_id: string }>(
    "SELECT machine_id FROM machines WHERE name <> 'front'",
    { schema: shared.databaseSchema },
  );
  const drained = await client.post(`/dashboard/service/machines/${machine?.machine_id}/drain`, {});
  t.equal(drained.status, 303);
  t.match(await page(), /&lt;b&gt;render&lt;\/b&gt;<span[\s\S]*draining/);
  await worker.drainRequested;
  const forget = () => client.post(`/dashboard/service/machines/${machine?.machine_id}/forget`, {});
  t.match((await forget()).text, /&lt;b&gt;render&lt;\/b&gt; \(\w{8}\) is alive/);
  t.match(await page(), /&lt;b&gt;render&lt;\/b&gt;<span/);
  const backup = await client.post('/dashboard/service/backup', {});
  t.not(backup.status, 200);
  t.match(backup.text, /pg_dump/);
});

t.test('the dashboard forgets a machine that died', async (t) => {
  const shared = await newInstallation(t);
  const { databaseSchema: schema } = shared;
  const api = await peopledAppliance(t, { ...shared, roles: ['api'] });
  await run(
    `INSERT INTO machines VALUES ('0000dead', 'lost', '["worker"]', NULL, '1', 'ready', 1, 0, 1, now(), now() - interval '31 s')`,
    { schema },
  );
  const client = await signedIn(t, api.port, api.admin);
  const page = async () => (await client.get('/dashboard/service')).text;
  t.match(await page(), /lost<span[\s\S]*dead[\s\S]*machines\/0000dead\/forget/);
  t.match(await page(), 'lost<span class="clip small muted">0000dead, version 1</span>');
  t.match(await page(), 'Forget lost<span class="visually-hidden"> 0000dead</span></button>');
  t.match(await page(), 'No machine has the role worker: nothing is rendered.');
  t.notMatch(await page(), 'The service is ready');
  t.match(await page(), '<dt>Sandbox</dt><dd>no workers in this process</dd>');
  t.equal((await client.post('/dashboard/service/machines/0000dead/forget', {})).status, 303);
  t.notMatch(await page(), /0000dead/);
  t.equal((await client.post('/dashboard/service/machines/0000dead/forget', {})).status, 404);
});

t.test('administrators on two servers cannot take away each other’s role', async (t) => {
  const shared = { ...(await newInstallation(t)), roles: ['api' as const] };
  const one = await peopledAppliance(t, shared);
  const other = await listeningAppliance(t, shared);
  const { accounts } = one.installation;
  const { accountId: admin } = await accounts.find(one.admin);
  const { accountId: member } = await accounts.find(one.member);
  await accounts.setRole(member, 'admin');
  const clients = [
    await signedIn(t, one.port, one.admin),
    await signedIn(t, other.port, one.member),
  ] as const;
  const answers = await Promise.all([
    clients[0].post(`/dashboard/accounts/${member}/role`, { role: 'member' }),
    clients[1].post(`/dashboard/accounts/${admin}/role`, { role: 'member' }),
  ]);
  const [changed, refused] = answers.map(({ status }) => status).sort();
  t.equal(changed, 303);
  t.match(refused, /^40[03]$/);
  const roles = (await accounts.list()).map(({ role }) => role);
  t.equal(roles.filter((role) => role === 'admin').length, 1);
});
