import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Acts } from '../../appliance/admin/acts.ts';
import { Administration } from '../../appliance/admin/administration.ts';
import { readinessOf } from '../../appliance/http/health.ts';
import { Metrics } from '../../appliance/metrics/metrics.ts';
import { Faults } from '../../appliance/support/faults.ts';
import { TwoFactor } from '../../lib/accounts/two-factor.ts';
import { silentLogger } from '../../lib/base/logger.ts';
import { systemRandom } from '../../lib/base/random.ts';
import { ClassLinks } from '../../lib/classroom/class-links.ts';
import type { Disk } from '../../lib/files/disk.ts';
import { Accounts, ApiKeys, DataFolder, RenderService, StoredLedger } from '../../lib/index.ts';
import { systemClock } from '../../lib/time/clock.ts';
import { crashingDisk } from '../fixtures/crashing-disk.ts';
import { testFolder } from '../fixtures/test-folder.ts';
import { listeningAppliance, VALID } from './listening-appliance.ts';

const EMAIL = 'ada-lovelace@example.org';
const MARKS = [EMAIL, 'name-of-the-key', 'text-of-the-scene'];

async function opened(path: string, disk?: Disk) {
  const folder = new DataFolder(path, { onFatal: () => {}, ...(disk && { disk }) });
  await folder.start();
  const accounts = new Accounts({ store: folder.accountStore });
  const masterKeys = await folder.masterKeys();
  const keys = new ApiKeys({ store: folder.keyStore, masterKeys });
  const ledger = new StoredLedger({ store: folder.ledgerStore });
  const service = new RenderService({ dataFolder: folder, ledger });
  await service.startWithoutWorkers();
  const metrics = new Metrics({ service, place: folder, pricing: undefined });
  const assetUrl = () => '';
  const admin = new Administration({
    masterKeys,
    twoFactor: new TwoFactor({ store: folder.accountStore, masterKeys }),
    publicUrl: () => '',
    prices: undefined,
    accounts,
    classLinks: new ClassLinks({
      ...{ storage: folder.storage, accounts, ledger, clock: systemClock, random: systemRandom },
    }),
    acts: new Acts({ store: folder.actStore, accounts, logger: silentLogger }),
    keys,
    ledger,
    service,
    place: folder,
    placeName: path,
    assetUrl,
    metrics,
    readiness: () => readinessOf(service, { isDraining: false, warnings: [] }),
    faults: new Faults(),
    renderTimeoutSeconds: 600,
    retention: { days: null, gibibytes: null },
    backups: undefined,
  });
  return { admin, service, folder };
}

/** A folder with an account, its key and a queued job. */
async function usedFolder(t: Test): Promise<{ path: string; userId: string }> {
  const path = join(testFolder(t), 'data');
  const { admin, service } = await opened(path);
  const { userId } = await admin.accounts.create({ email: EMAIL });
  await admin.keys.create({ account: EMAIL, name: MARKS[1] as string });
  await service.enqueue({ owner: userId, code: MARKS[2] as string, className: 'A' });
  await service.stop();
  return { path, userId };
}

async function marksIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const texts = await Promise.all(files.map((file) => readFile(file)));
  return MARKS.filter((mark) => texts.some((text) => text.includes(mark)));
}

t.test('a deletion interrupted at any write to the disk leaves nothing once it is repeated', async (t) => {
  const stages = new Set<string>();
  for (let changes = 0; ; changes += 1) {
    const { path, userId } = await usedFolder(t);
    const disk = crashingDisk();
    const first = await opened(path, disk);
    disk.crashAfter(changes);
    await first.admin.accounts.delete({ account: EMAIL }).catch(() => {});
    await first.service.stop().catch(() => {});

    const { admin, service } = await opened(path);
    const { halfDeletedAccounts: half } = await admin.data.examine();
    const named = (await admin.accounts.list()).accounts.some(({ email }) => email === EMAIL);
    stages.add(half.length > 0 ? 'incomplete' : named ? 'not started' : 'complete');
    // By address as before, or by id if the address has been removed.
    const deleted = await admin.accounts.delete({ account: named ? EMAIL : userId });
    t.match(deleted, { userId, revokedKeys: 1, forgottenJobs: 1 }, `after ${changes} changes`);
    t.same((await admin.credits.audit()).problems, []);
    t.not((await admin.accounts.create({ email: EMAIL })).userId, userId, 'the address can be used again');
    await admin.accounts.delete({ account: EMAIL });
    await service.stop();
    t.same(await marksIn(path), [], `after ${changes} changes`);
    if (!disk.hasCrashed()) break;
    t.ok(changes < 200);
  }
  t.same([...stages].sort(), ['complete', 'incomplete', 'not started']);
});

t.test('neither account nor address can be used while a deletion is incomplete', async (t) => {
  const { installation, askAs, key } = await listeningAppliance(t);
  const { administration, service } = installation;
  const account = 'ada@example.org';
  const forgetAll = service.forgetAll.bind(service);
  service.forgetAll = () => Promise.reject(new Error('cut off'));
  await t.rejects(administration.accounts.delete({ account }), { message: 'cut off' });
  t.equal((await askAs(key, '/api/v2/me')).status, 401);
  const code = 'not_found';
  await t.rejects(administration.accounts.enable({ account }), { code });
  await t.rejects(administration.keys.create({ account, name: 'n' }), { code });
  await t.rejects(administration.credits.grant({ account, paid: 1 }), { code });
  await t.rejects(administration.accounts.create({ email: account }), { code: 'conflict' });
  service.forgetAll = forgetAll;
  await administration.accounts.delete({ account });
  t.same((await administration.accounts.list()).accounts, []);
  t.equal((await askAs(key, '/api/v2/render', { method: 'POST', body: JSON.stringify(VALID) })).status, 401);
});
