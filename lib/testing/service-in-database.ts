import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Accounts } from '../accounts/accounts.ts';
import { FileAssetStore } from '../assets/file-asset-store.ts';
import { ApiKeys } from '../keys/api-keys.ts';
import { MasterKey } from '../keys/master-key.ts';
import { MasterKeys } from '../keys/master-keys.ts';
import { StoredLedger } from '../ledger/stored-ledger.ts';
import type { RenderService } from '../service/render-service.ts';
import { type SqlStores, sqlStorage } from '../sql/sql-stores.ts';
import type { SqlDatabase } from '../storage/sql.ts';
import { fakeRenderService } from './fake-renderer.ts';

const FAILING = 'raise';
const owner = 'ada';
const request = { owner, code: 'x', className: 'A' };

/** What keeps jobs, credits, accounts and keys in a database: behaviors of a {@link SqlDatabase} with its stores. */
export const SERVICE_IN_DATABASE: Record<string, (database: SqlDatabase) => Promise<void>> = {
  async 'keeps the jobs and credits of a service, across a restart'(database) {
    const jobIds = await withService(database, async ({ service, ledger }) => {
      await ledger.grantPaid(owner, 100, { idempotencyKey: 'invoice 1' });
      const idempotency = { key: 'k' };
      const first = await service.enqueue({ ...request, idempotency });
      assert.equal((await service.enqueue({ ...request, idempotency })).jobId, first.jobId);
      const others = Array.from({ length: 8 }, (_, i) =>
        service.enqueue({ ...request, owner: `owner ${i % 3}`, quality: 'low' }),
      );
      const failing = await service.enqueue({ ...request, code: FAILING });
      const jobs = [first, failing, ...(await Promise.all(others))];
      const ended = await Promise.all(jobs.map(({ jobId }) => service.wait(jobId)));
      assert.deepEqual(
        ended.map(({ status }) => status),
        ['completed', 'failed', ...others.map(() => 'completed')],
      );
      await service.pauseQueue();
      const canceled = await service.enqueue(request);
      assert.equal((await service.cancel(canceled.jobId)).status, 'failed');
      await service.resumeQueue();
      return [first, failing, canceled].map(({ jobId }) => jobId);
    });
    await withService(database, async ({ service, ledger, stores }) => {
      assert.deepEqual((await service.list({ owner })).map(({ jobId }) => jobId).sort(), jobIds.toSorted());
      assert.equal((await service.list({ owner, status: 'completed', quality: 'medium' })).length, 1);
      assert.equal((await service.searchErrors({ owner, text: 'FAILED' })).jobs.length, 1);
      assert.equal((await service.count()).completed, 9);
      const [first = ''] = jobIds;
      const { creditsCost } = await service.get(first);
      const { free, paid } = await service.balance(owner);
      assert.equal(free + paid, FREE + 100 - (creditsCost ?? 0));
      assert.ok((await ledger.statement(owner, { foldsJobs: true })).length > 0);
      assert.equal((await ledger.charges(owner, { fromMs: 0, untilMs: Number.MAX_SAFE_INTEGER })).renders, 1);
      assert.deepEqual((await ledger.audit()).problems, []);
      assert.equal(await stores.readSource(first), 'x');
      assert.ok((await service.storedBytes(owner)).bytes);
      for (const scope of [{}, { owner }]) {
        assert.equal((await service.list({ ...scope, status: 'failed', canceled: true })).length, 1);
        assert.equal((await service.list({ ...scope, status: 'failed', canceled: false })).length, 1);
        assert.equal(
          (await service.list({ ...scope, quality: 'medium', after: '0', before: 'z' })).length,
          3,
        );
        assert.equal((await service.count({ ...scope, canceled: true })).failed, 1);
      }
      await service.forget(first);
      assert.equal(await service.forgetAll(owner), 3);
      assert.equal(await stores.readSource(first), undefined);
      assert.deepEqual((await ledger.audit()).problems, []);
    });
  },

  async 'keeps the webhooks of a service'(database) {
    await withService(database, async ({ service }) => {
      const refused = { url: 'https://127.0.0.1/', secret: 'whsec' };
      for (const keyId of [null, 'k']) {
        const attempted = once(service, 'delivery');
        await service.enqueue({ ...request, webhook: refused, keyId });
        await attempted;
      }
      const [last, first] = await service.deliveries.list({ owner });
      assert.ok(last && first);
      await service.deliveries.giveUp(first.deliveryId);
      for (const scope of [{}, { owner }, { jobId: first.jobId }]) {
        const failed = await service.deliveries.list({ ...scope, state: 'failed' });
        assert.deepEqual(
          failed.map(({ deliveryId }) => deliveryId),
          [first.deliveryId],
        );
      }
      assert.equal((await service.deliveries.list({ keyId: 'k' })).length, 1);
      assert.equal((await service.deliveries.list({ owner, state: 'pending', keyId: 'k' })).length, 1);
      assert.deepEqual(await service.resealSecrets(), { jobs: 0, keys: 0 });
      await service.deliveries.sendAgain(first.deliveryId);
      assert.equal((await service.deliveries.list({ owner })).length, 3);
      assert.equal((await service.deliveries.get(last.deliveryId)).attempts[0]?.reason, 'blocked');
      assert.equal(await service.forgetAll(owner), 2);
    });
  },

  async 'keeps accounts, keys, sessions and acts'(database) {
    const stores = sqlStorage(database);
    await stores.start();
    const accounts = new Accounts({ store: stores.accountStore });
    const { accountId } = await accounts.create('ada@example.org');
    await assert.rejects(accounts.create('Ada@example.org'), { code: 'conflict' });
    await accounts.disable(accountId);
    assert.ok((await accounts.find('ADA@example.org')).disabledAtMs);
    assert.equal((await accounts.list({ text: 'ada' })).length, 1);

    const keys = new ApiKeys({ store: stores.keyStore, masterKeys: new MasterKeys(MasterKey.random()) });
    const { key, record } = await keys.mint({ accountId, name: 'site' });
    assert.equal((await keys.verify(key))?.keyId, record.keyId);
    await keys.revoke(record.keyId);
    assert.equal(await keys.verify(key), null);
    assert.equal((await keys.list({ accountId })).length, 1);
    assert.equal((await keys.list({ live: true })).length, 0);
    const expiresAtMs = Date.UTC(9000, 0);
    const limited = await keys.mint({ accountId, name: 'course', scopes: ['read'], expiresAtMs });
    assert.deepEqual(await keys.verify(limited.key), limited.record);
    assert.equal((await keys.list({ live: true })).length, 1);
    assert.equal((await stores.keyStore.listKeys({ liveAtMs: expiresAtMs })).length, 0);
    assert.equal(await keys.reseal(), 0);
    for (const usedAtMs of [2, 1]) await stores.keyUseStore.noteKeyUses([{ keyId: record.keyId, usedAtMs }]);
    assert.deepEqual(
      (await stores.keyUseStore.lastKeyUses([record.keyId])).map(({ usedAtMs }) => usedAtMs),
      [2],
    );

    const { sessionStore } = stores;
    const session = {
      ...{ tokenHash: '0'.repeat(64), accountId, createdAtMs: 1, expiresAtMs: 2 },
      ...{ browser: 'Firefox/Linux', address: null },
    };
    await sessionStore.insertSession(session, { most: 1 });
    await sessionStore.insertSession({ ...session, tokenHash: '1'.repeat(64) }, { most: 1 });
    assert.equal(await sessionStore.getSession(session.tokenHash), undefined);
    await sessionStore.extendSession('1'.repeat(64), 3);
    await sessionStore.removeExpiredSessions(2);
    assert.equal(await sessionStore.removeSessionsOf(accountId), 1);

    const act = {
      actId: '1',
      atMs: 1,
      actor: accountId,
      action: 'keys.revoke',
      subject: null,
      address: '::1',
    };
    await stores.actStore.appendAct(act);
    await stores.actStore.forgetAddressesOf(accountId);
    assert.deepEqual(await stores.actStore.listActs({ actor: accountId, limit: 9 }), [
      { ...act, address: null },
    ]);
  },
};

const FREE = 1_000;

/** Runs a service that keeps all in the database, which is started afterwards. */
async function withService<T>(
  database: SqlDatabase,
  use: (parts: { service: RenderService; ledger: StoredLedger; stores: SqlStores }) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'scenepress-suite-'));
  const stores = sqlStorage(database);
  const ledger = new StoredLedger({ store: stores.ledgerStore, freeCreditsPerMonth: FREE });
  const service = fakeRenderService({
    storage: stores,
    ledger,
    assets: new FileAssetStore(join(folder, 'artifacts')),
    workFolder: join(folder, 'work'),
    workers: 2,
    assetUrl: 'https://render.example.org',
    webhooks: { masterKeys: new MasterKeys(MasterKey.random()) },
    failureOf: ({ code }) => (code === FAILING ? 'It failed.' : undefined),
  });
  try {
    await service.start();
    return await use({ service, ledger, stores });
  } finally {
    await service.stop();
    await database.start();
    await rm(folder, { recursive: true, force: true });
  }
}
