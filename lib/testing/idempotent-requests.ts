import assert from 'node:assert/strict';
import type { Storage } from '../storage/storage.ts';
import { insert, jobRecord } from './job-record.ts';

/** The part of `storageSuite` that concerns repeated requests. */
export const IDEMPOTENT_REQUESTS: Record<string, (storage: Storage) => Promise<void>> = {
  async 'stores idempotent requests by owner and key, until they are old'(storage: Storage) {
    const request = { owner: 'a', key: 'k', fingerprint: 'f', jobId: '1', createdAtMs: 1000 };
    await insert(storage, jobRecord('1'));
    await storage.transaction((tx) => storage.putIdempotentRequest(tx, request));
    const find = (owner: string, key: string) =>
      storage.transaction((tx) => storage.getIdempotentRequest(owner, key, tx));
    assert.deepEqual(await find('a', 'k'), request);
    assert.equal(await find('b', 'k'), undefined);
    await storage.transaction((tx) => storage.removeIdempotentRequests(tx, 1000));
    assert.deepEqual(await find('a', 'k'), request);
    await storage.transaction((tx) => storage.removeIdempotentRequests(tx, 1001));
    assert.equal(await find('a', 'k'), undefined);
  },

  async 'removes idempotent requests in steps'(storage: Storage) {
    await insert(storage, jobRecord('1'));
    const requests = Array.from({ length: 2500 }, (_, i) => ({
      owner: 'a',
      key: `${i}`,
      fingerprint: 'f',
      jobId: '1',
      createdAtMs: i,
    }));
    await storage.transaction(async (tx) => {
      for (const request of requests) await storage.putIdempotentRequest(tx, request);
    });
    let steps = 1;
    while (await storage.transaction((tx) => storage.removeIdempotentRequests(tx, 2400))) steps += 1;
    assert(steps <= 2400, 'each step removes some');
    const kept = await storage.transaction((tx) =>
      Promise.all(requests.map(({ key }) => storage.getIdempotentRequest('a', key, tx))),
    );
    assert.deepEqual(
      kept.filter((request) => request !== undefined),
      requests.slice(2400),
    );
  },

  async 'keeps a request that replaces an old one during its removal'(storage: Storage) {
    const old = { owner: 'a', key: 'k', fingerprint: 'f', jobId: '1', createdAtMs: 1000 };
    await insert(storage, jobRecord('1', { phase: 'completed' }));
    await insert(storage, jobRecord('2'));
    await storage.transaction((tx) => storage.putIdempotentRequest(tx, old));
    const request = { ...old, jobId: '2', createdAtMs: 2000 };
    const forgotten = jobRecord('1', { phase: 'completed', forgottenAtMs: 1 });
    await Promise.all([
      storage.transaction((tx) => storage.putIdempotentRequest(tx, request)),
      storage.transaction((tx) => storage.removeIdempotentRequests(tx, 2000)),
      storage.transaction((tx) => storage.forgetJob(tx, forgotten)),
    ]);
    const found = await storage.transaction((tx) => storage.getIdempotentRequest('a', 'k', tx));
    assert.deepEqual(found, request);
  },
};
