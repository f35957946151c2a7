import { existsSync, readFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { DataFolder, FileAssetStore } from '../../lib/index.ts';
import type { JobRecord } from '../../lib/model/job.ts';
import { migrateToPostgres } from '../../lib/operations.ts';
import { scenepress } from '../appliance/command.ts';
import { listeningAppliance } from '../appliance/listening-appliance.ts';
import { newSchema, openPostgres, run, serverUrl } from '../fixtures/postgres/database.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const PYTHON = join(import.meta.dirname, '../fixtures/instant-renderer/bin/python');
const APPLIANCE = { python: PYTHON, insecureNoSandbox: true };

/** An installation with completed, failed, forgotten and waiting jobs, and everything else. */
async function usedInstallation(t: Test) {
  const dataDir = await temporaryFolder(t);
  const appliance = await listeningAppliance(t, {
    ...APPLIANCE,
    dataDir,
    publicUrl: 'https://render.example.org',
  });
  const { service, post, installation } = appliance;
  const other = await appliance.newKey('béa@example.org', 'https://127.0.0.1:1/hook');
  const limits = { scopes: ['check', 'read'], expires: '9000-01-31' };
  await installation.administration.keys.create({ account: 'béa@example.org', name: 'Limited', ...limits });
  const enqueue = async (body: { code: string; metadata?: object }, key = appliance.key) =>
    String(
      (
        await appliance.askAs(key, '/api/v2/render', {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'idempotency-key': String(body.code) },
          body: JSON.stringify({ className: 'A', ...body }),
        })
      ).json['jobId'],
    );
  const ended = [
    await enqueue({ code: 'x', metadata: { lesson: 7, name: 'Zoë 😀' } }),
    await enqueue({ code: 'fail: a reason' }),
    await enqueue({ code: 'y' }, other),
  ];
  for (const jobId of ended) await service.wait(jobId);
  await service.forget(ended[2] as string);
  await installation.administration.accounts.disable({ account: 'béa@example.org' });
  await service.pauseQueue();
  await post({ className: 'Waiting', code: 'z', quality: 'high' });
  await appliance.stop();
  return { dataDir, key: appliance.key, ended };
}

/** Everything that can be compared. */
async function contentsOf(
  stores: Pick<DataFolder, 'storage' | 'ledgerStore' | 'accountStore' | 'keyStore' | 'settings' | 'actStore'>,
) {
  const jobs: JobRecord[] = await stores.storage.listJobs({});
  const { storage } = stores;
  const read = <T>(of: (jobId: string) => Promise<T>) => Promise.all(jobs.map(({ jobId }) => of(jobId)));
  return {
    jobs,
    sources: await read((jobId) => storage.readSource(jobId)),
    traces: await read((jobId) => storage.readTrace(jobId)),
    deliveries: await storage.deliveries.list({ limit: 100 }),
    queue: await storage.queue.state(),
    accounts: await stores.accountStore.listAccounts(),
    keys: await stores.keyStore.listKeys(),
    settings: await stores.settings.getSettings(),
    acts: await stores.actStore.listActs({ limit: 100 }),
  };
}

async function folderContents(path: string) {
  const folder = new DataFolder(path);
  await folder.start();
  const contents = await contentsOf(folder);
  await folder.stop();
  return contents;
}

t.test('an installation is moved to a database and back, and nothing is lost', async (t) => {
  const { dataDir, key, ended } = await usedInstallation(t);
  const before = await folderContents(dataDir);
  t.equal(before.jobs.length, 4);
  const [url, schema, shared, back] = [
    await serverUrl(),
    newSchema(),
    await temporaryFolder(t),
    join(await temporaryFolder(t), 'back'),
  ];
  const options = ['--database-schema', schema, '--artifact-dir', shared];

  const nowhere = await scenepress(['migrate', '--from', dataDir, '--to', url]);
  t.match(nowhere, { code: 2, stderr: /--s3-bucket, or --artifact-dir .* --artifacts-stay/ });
  const copy = join(await temporaryFolder(t), 'copy');
  await cp(dataDir, copy, { recursive: true });
  const to = ['--to', url, '--database-schema', newSchema()];
  const stay = await scenepress(['migrate', '--from', copy, ...to, '--artifacts-stay']);
  t.match(stay, { code: 0, stdout: /^Artifacts stay where they are\.$/m });
  const up = await scenepress(['migrate', '--from', dataDir, '--to', url, ...options]);
  t.equal(up.code, 0, up.stderr);
  t.match(
    up.stdout,
    /Moved 4 jobs, \d+ ledger entries, 2 accounts and 3 keys[\s\S]*Copied 2 artifacts; 0 were missing[\s\S]*books are in order[\s\S]*master key: SCENEPRESS_MASTER_KEY_FILE=/,
  );
  const storage = await openPostgres(t, { schema });
  t.same(await contentsOf(Object.assign(storage, { storage })), before);

  const refused = await scenepress(['account', 'list', '--data-dir', dataDir]);
  t.match(refused, { code: 1, stderr: /was moved to postgres:.* and is out of date here/ });

  const masterKey = readFileSync(join(dataDir, 'master.key'), 'utf8').trim();
  const config = {
    databaseUrl: url,
    databaseSchema: schema,
    databaseConnections: 4,
    artifactDir: shared,
    masterKey,
  };
  const moved = await listeningAppliance(t, {
    ...APPLIANCE,
    ...config,
    publicUrl: 'https://render.example.org',
  });
  const shown = await moved.askAs(key, `/api/v2/render/${ended[0]}`);
  t.match(shown.json, { status: 'completed', metadata: { lesson: 7, name: 'Zoë 😀' } });
  t.match(await moved.ask(`/artifacts/${ended[0]}/video.mp4`), { status: 200, text: 'a video' });
  await moved.service.resumeQueue();
  const waiting = before.jobs.find(({ phase }) => phase === 'queued') as JobRecord;
  t.match(await moved.service.wait(waiting.jobId), { status: 'completed' });
  const env = { SCENEPRESS_MASTER_KEY: masterKey };
  const alive = await scenepress(['migrate', '--from', url, '--to', back, ...options], { env });
  t.match(alive, { code: 1, stderr: /Stop these machines first/ });
  await moved.stop();
  const after = await contentsOf(Object.assign(storage, { storage }));

  const down = await scenepress(['migrate', '--from', url, '--to', back, ...options, '--json'], { env });
  t.equal(down.code, 0, down.stderr);
  t.match(JSON.parse(down.stdout), {
    accounts: 2,
    keys: 4,
    artifacts: { missing: 0 },
    audit: { problems: [] },
  });
  t.same(await folderContents(back), after);
  const again = await scenepress(['migrate', '--from', url, '--to', back, ...options], { env });
  t.match(
    again.stdout,
    /same master key, which is not in the folder: SCENEPRESS_MASTER_KEY_FILE, or a copy in .*\/back\/master\.key/,
  );
  t.notOk(existsSync(join(back, 'master.key')));
  t.match(await scenepress(['job', 'list', '--database-url', url, ...options.slice(0, 2)], { env }), {
    code: 1,
    stderr: /The data in this database was moved to/,
  });
});

t.test('a move that is interrupted changes nothing and is repeated', async (t) => {
  const { dataDir } = await usedInstallation(t);
  const masterKey = readFileSync(join(dataDir, 'master.key'), 'utf8').trim();
  const schema = newSchema();
  const storage = await openPostgres(t, { schema });
  const assets = new FileAssetStore(await temporaryFolder(t));
  const folder = new DataFolder(dataDir);
  await folder.start();
  t.teardown(() => folder.stop());

  // The database refuses one of the last rows, as if it had failed then.
  await run(
    "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''stop''; END'",
    { schema },
  );
  await run('CREATE TRIGGER stop BEFORE INSERT ON api_keys EXECUTE FUNCTION fail()', { schema });
  await t.rejects(migrateToPostgres(folder, storage, { assets, masterKey, target: 'there' }));
  t.same(await storage.listJobs({}), []);
  t.notOk(existsSync(join(dataDir, 'moved')));
  await run('DROP TRIGGER stop ON api_keys', { schema });

  const first = await migrateToPostgres(folder, storage, { assets, masterKey, target: 'there' });
  t.match(first, { accounts: 2, keys: 3, artifacts: { copied: 0 } }, 'artifacts were there already');
  t.ok(existsSync(join(dataDir, 'moved')));
  const again = await migrateToPostgres(folder, storage, { assets, masterKey, target: 'there' });
  t.same(again.rows, first.rows, 'a repetition only checks');

  const other = await temporaryFolder(t);
  await cp(join(dataDir, 'master.key'), join(other, 'master.key'));
  const strange = new DataFolder(other);
  await strange.start();
  t.teardown(() => strange.stop());
  await t.rejects(migrateToPostgres(strange, storage, { assets, masterKey, target: 'there' }), {
    code: 'conflict',
    message: /The database contains other data\. Nothing was changed/,
  });
});
