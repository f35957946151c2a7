import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Accounts, audit, DataFolder, rollBack, StoredLedger } from '../../../lib/index.ts';
import { jobRecord } from '../../../lib/testing/job-record.ts';
import { PowerCut, SimulatedDisk, seededRandom } from '../../fixtures/simulated-disk.ts';

/** Written by the last version that had format 1: five jobs of one account, three of them over. */
const FORMAT_1 = join(import.meta.dirname, '../../fixtures/format-1');
const former = new Map(readdirSync(FORMAT_1).map((name) => [name, readFileSync(join(FORMAT_1, name))]));

/** What is missing or wrong of what the fixture holds. */
async function problemsIn(folder: DataFolder): Promise<string[]> {
  const { storage, ledgerStore, accountStore } = folder;
  const problems = [...(await audit(ledgerStore)).problems];
  for (let number = 1; number <= 5; number++) {
    const jobId = `job${number}`;
    const job = await storage.getJob(jobId);
    const phase = number < 4 ? 'completed' : 'queued';
    if (job?.phase !== phase || job.metadataJson !== '{"n":1e400}') problems.push(`${jobId}: ${job?.phase}`);
    if ((await storage.readSource(jobId)) !== `# source of ${jobId} \ud800`)
      problems.push(`source of ${jobId}`);
    const deliveries = await storage.deliveries.list({ jobId });
    const body = deliveries[0] && (await storage.deliveries.readBody(deliveries[0].deliveryId));
    if (body !== (number < 4 ? `{"jobId":"${jobId}"}` : undefined)) problems.push(`delivery of ${jobId}`);
  }
  if (!(await accountStore.findAccountByEmail('ada@example.org'))) problems.push('the account');
  const { lastPeriod, grants } = (await ledgerStore.getAccount('ada')) ?? {};
  const paid = grants?.find(({ source }) => source === 'paid')?.remainingCredits;
  if (paid !== 100 || lastPeriod !== '2026-11') problems.push(`the balance: ${paid}`);
  return problems;
}

function isPowerCut(error: unknown): boolean {
  return error instanceof PowerCut || (error instanceof Error && isPowerCut(error.cause));
}

async function diskOfFormat1(seed: number): Promise<SimulatedDisk> {
  const disk = new SimulatedDisk(seededRandom(seed));
  for (const [name, bytes] of former) {
    const file = await disk.open(`/${name}`, 'create');
    await file.write(bytes, 0);
    await file.sync();
  }
  await disk.syncFolder();
  return disk;
}

t.test('an upgrade that loses power at any call to the disk is made by the next start', async (t) => {
  const path = t.testdir();
  let cuts = 0;
  for (let callsLeft = 0; ; callsLeft++) {
    let over = false;
    for (let seed = 1; seed <= 4; seed++) {
      const disk = await diskOfFormat1(seed);
      disk.callsLeft = callsLeft;
      const first = new DataFolder(path, { disk, onFatal: () => {} });
      const error = await first.start().then(
        () => undefined,
        (error: Error) => error,
      );
      if (error && !isPowerCut(error)) t.fail(`${callsLeft} calls: ${error.message}`);
      over ||= error === undefined;
      if (error) cuts += 1;
      disk.callsLeft = 0;
      await first.stop().catch(() => {});
      disk.cutPower();
      const folder = new DataFolder(path, { disk });
      await folder.start();
      const problems = await problemsIn(folder);
      for (const [name, bytes] of former) {
        if (!(await disk.read(`/format-1-${name}`))?.equals(bytes)) problems.push(`${name} was not kept`);
      }
      await folder.stop();
      if (problems.length > 0) return t.fail(`${callsLeft} calls, seed ${seed}: ${problems.join('; ')}`);
    }
    if (over) break;
  }
  t.ok(cuts > 80, `${cuts} power cuts`);
  return undefined;
});

t.test(
  'a rollback says what it loses, keeps it aside, and leaves the data as the upgrade found it',
  async (t) => {
    const path = join(t.testdir(), 'data');
    cpSync(FORMAT_1, path, { recursive: true });
    const folder = new DataFolder(path, { snapshotAfterBytes: 1000 });
    await folder.start();
    t.teardown(() => folder.stop());
    t.same(await problemsIn(folder), []);
    const { storage } = folder;
    for (const id of ['new1', 'new2'])
      await storage.transaction((tx) => storage.insertJob(tx, jobRecord(id), 'x'));
    await new StoredLedger({ store: folder.ledgerStore }).grantPaid('ada', 5);
    await new Accounts({ store: folder.accountStore }).create('eve@example.org');
    await t.rejects(rollBack(path, { apply: true }), { code: 'storage_locked' });
    await folder.stop();

    const plan = await rollBack(path);
    t.match(plan, { format: 1, jobs: ['new2', 'new1'], keptAside: null });
    t.ok(plan.entries >= 1);
    t.match(readFileSync(join(path, 'database.jsonl'), 'utf8'), /^\{"format":2,/, 'nothing is changed yet');

    const { keptAside } = await rollBack(path, { apply: true });
    const data = readdirSync(path).filter((name) =>
      /^(database|journal|rows|pack|accounts|keys|settings)/.test(name),
    );
    t.same(data.sort(), [...former.keys()].sort());
    for (const [name, bytes] of former) t.ok(readFileSync(join(path, name)).equals(bytes), name);
    t.match(readFileSync(join(keptAside as string, 'database.jsonl'), 'utf8'), /^\{"format":2,/);

    await folder.start();
    t.same(await problemsIn(folder), [], 'and it can be upgraded again');
    t.equal(await storage.getJob('new1'), undefined);
    t.equal(await folder.accountStore.findAccountByEmail('eve@example.org'), undefined);
  },
);

t.test('without an upgrade there is nothing to go back to', async (t) => {
  const path = join(t.testdir(), 'data');
  const folder = new DataFolder(path);
  await folder.start();
  await folder.stop();
  await t.rejects(rollBack(path), { code: 'not_found', message: /nothing to go back to/ });
});

t.test('what an upgrade kept is gone after a purge', async (t) => {
  const path = join(t.testdir(), 'data');
  cpSync(FORMAT_1, path, { recursive: true });
  const folder = new DataFolder(path);
  await folder.start();
  t.teardown(() => folder.stop());
  t.match(readdirSync(path).join(' '), /format-1-/);
  await folder.storage.purge();
  t.notMatch(readdirSync(path).join(' '), /format-1-/);
});
