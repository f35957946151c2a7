import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { systemRandom } from '../../../lib/base/random.ts';
import { type AssetStore, DataFolder, isScenepressError, ScenepressError } from '../../../lib/index.ts';
import { contentKeyOf } from '../../../lib/model/owner-file.ts';
import { Contents } from '../../../lib/owner-files/contents.ts';
import { DEFAULT_FILES } from '../../../lib/owner-files/file-limits.ts';
import { FileQuota } from '../../../lib/owner-files/file-quota.ts';
import { FileRemoval } from '../../../lib/owner-files/file-removal.ts';
import { FileChoice, filesOf, type JobFiles } from '../../../lib/owner-files/file-sets.ts';
import { OwnerFiles } from '../../../lib/owner-files/owner-files.ts';
import { SentFiles } from '../../../lib/owner-files/sent-files.ts';
import { UploadFolder } from '../../../lib/owner-files/upload-folder.ts';
import { Uploads } from '../../../lib/owner-files/uploads.ts';
import type { Storage } from '../../../lib/storage/storage.ts';
import { turn } from '../../../lib/time/clock.ts';
import { times } from '../../fixtures/depth.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { jobRecord } from '../../fixtures/job-record.ts';
import { newSchema, openPostgres } from '../../fixtures/postgres/database.ts';
import { seededRandom } from '../../fixtures/seeded-random.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

// Two processes put, replace, remove, send and use the same files at the same time, while the store fails and is late, the clock
// jumps and processes end at any step. No content that a file or a job has is ever removed, and none stays for ever.
// SEED=… repeats the choices of a history.

const OWNERS = ['ada', 'eve'];
const NAMES = ['a.txt', 'b.txt', 'd/a.txt', 'd/b.txt', 'd/b.txt/c.txt'];
const CONTENTS = ['one', 'two', 'three', 'four'];
const STEPS = 40;
const STORE_FAILED = 'the store failed';
const FOREVER = new Promise<never>(() => {});
const LIMITS = { ...DEFAULT_FILES, mostFiles: 4, mostBytes: 14 };

/** A process, whose calls are neither carried out nor answered once it has ended. */
class OneProcess {
  readonly files: OwnerFiles;
  readonly sent: SentFiles;
  readonly removal: FileRemoval;
  readonly storage: Storage;
  hasEnded = false;

  constructor(parts: { storage: Storage; store: Store; clock: FakeClock; folder: string }) {
    const { storage, store, clock, folder } = parts;
    const isOver = () => this.hasEnded;
    this.storage = mortal(storage, isOver);
    const assets = store.of(isOver);
    this.removal = new FileRemoval({ storage: this.storage, assets, clock });
    const quota = new FileQuota(this.storage, LIMITS);
    const fileParts = {
      ...{ storage: this.storage, assets, removal: this.removal, quota, clock, random: systemRandom },
      contents: new Contents(assets, this.removal),
      uploads: new Uploads({
        ...{ folder: new UploadFolder(folder), quota, options: LIMITS, random: systemRandom },
      }),
      assertAdmitted: async () => {},
    };
    this.sent = new SentFiles(fileParts);
    this.files = new OwnerFiles({
      ...fileParts,
      logger: {
        debug() {},
        info() {},
        error() {},
        warn: ({ err }: { err?: unknown }) => assertExpected(err),
      },
    });
  }
}

/** Passes on the calls of a process until it has ended. */
function mortal(storage: Storage, isOver: () => boolean): Storage {
  const transaction: Storage['transaction'] = async (work, options) => {
    await turn();
    if (isOver()) return FOREVER;
    const result = await storage.transaction(work, options);
    await turn();
    return isOver() ? FOREVER : result;
  };
  return new Proxy(storage, {
    get: (of, name) => {
      if (name === 'transaction') return transaction;
      const value: unknown = Reflect.get(of, name, of);
      return typeof value === 'function' ? value.bind(of) : value;
    },
  });
}

/** A store in memory that is late and fails, before or after it has done what it was asked. */
class Store {
  readonly contents = new Map<string, Buffer>();
  failing = 0;
  readonly #random: () => number;
  readonly #storage: Storage;
  readonly faults: string[] = [];

  constructor(random: () => number, storage: Storage) {
    this.#random = random;
    this.#storage = storage;
  }

  of(isOver: () => boolean): AssetStore {
    const call = async <T>(work: () => Promise<T>): Promise<T> => {
      await this.#wait();
      if (isOver() && this.#random() < 0.5) return FOREVER;
      if (this.#random() < this.failing) throw new Error(STORE_FAILED);
      const result = await work();
      await this.#wait();
      if (isOver()) return FOREVER;
      if (this.#random() < this.failing) throw new Error(STORE_FAILED);
      return result;
    };
    return {
      put: async (key, { path }) => {
        const content = await readFile(path);
        return call(async () => {
          this.contents.set(key, content);
          return { sizeBytes: content.length };
        });
      },
      open: (key) =>
        call(async () => {
          const content = this.contents.get(key);
          return content && { sizeBytes: content.length, stream: Readable.from([content]) };
        }),
      delete: (key) =>
        call(async () => {
          await this.#assertUnused(key);
          this.contents.delete(key);
        }),
    };
  }

  /** Looked at here, too: another put may store the content again. */
  async #assertUnused(key: string): Promise<void> {
    for (const owner of OWNERS)
      for (const file of await this.#storage.files.of(owner, 1_000))
        if (contentKeyOf(file) === key && (file.phase === 'stored' || file.phase === 'removed'))
          this.faults.push(`${key} is removed, though ${file.name} of ${owner}, ${file.phase}, has it`);
  }

  async #wait(): Promise<void> {
    for (let turns = Math.floor(this.#random() * 6); turns > 0; turns--) await turn();
  }
}

function assertExpected(error: unknown): void {
  if (isScenepressError(error) || (error as Error).message === STORE_FAILED) return;
  throw error;
}

interface Job {
  jobId: string;
  owner: string;
}

async function history(storages: readonly [Storage, Storage], folder: string, seed: number): Promise<void> {
  const random = seededRandom(seed);
  const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(random() * from.length)];
  const clock = new FakeClock('2026-11-28T10:00:00Z');
  const [storage] = storages;
  const store = new Store(random, storage);
  store.failing = seed % 2 === 0 ? 0.1 : 0;
  const mayEnd = seed % 3 > 0;
  const begin = (index: 0 | 1) => new OneProcess({ storage: storages[index], store, clock, folder });
  const processes = [begin(0), begin(1)];
  const jobs: Job[] = [];
  let count = 0;
  let running: { step: Promise<void>; of: OneProcess }[] = [];

  const enqueue = async (of: OneProcess, owner: string, files: JobFiles) => {
    const jobId = `j${seed}-${count++}`;
    jobs.push({ jobId, owner });
    await of.storage.transaction(async (tx) => {
      await of.storage.lockOwner(tx, owner);
      const set = await new FileChoice(of.storage.files, owner, tx).setOf(files);
      await of.storage.insertJob(tx, jobRecord(jobId, { owner, phase: 'failed' }), 'x');
      if (set) await of.storage.files.use(tx, jobId, set);
    });
  };
  /** Adds a job with contents, twice in one request, or refuses it when they have been stored. */
  const send = async (of: OneProcess, owner: string, content: string) => {
    const given = { 'd/s.txt': { content }, 't.txt': { content: pick(CONTENTS) ?? '' } };
    const isRefused = random() < 0.2;
    await of.sent.with(owner, [given, undefined, { 'd/s.txt': { content } }], async (sent) => {
      for (const one of sent) if (one) await enqueue(of, owner, one);
      if (isRefused) throw new ScenepressError('queue_full', 'refused');
    });
  };
  const forget = async (of: OneProcess, { jobId, owner }: Job) => {
    const files = await of.storage.transaction(async (tx) => {
      await of.storage.lockOwner(tx, owner);
      const job = await of.storage.getJob(jobId, tx);
      return job ? of.storage.forgetJob(tx, { ...job, forgottenAtMs: clock.now() }) : [];
    });
    for (const file of files) await of.removal.discard(file);
  };
  const step = async (of: OneProcess): Promise<void> => {
    const owner = pick(OWNERS) ?? '';
    const job = pick(jobs.filter((one) => one.owner === owner));
    const choice = random();
    if (choice < 0.4) {
      const [name = '', content = ''] = [pick(NAMES), pick(CONTENTS)];
      await of.files.put({ owner, name, content });
    } else if (choice < 0.6) {
      const file = pick(await of.files.list({ owner }));
      if (file) await of.files.remove(file.fileId, { owner });
    } else if (choice < 0.65) await enqueue(of, owner, {});
    else if (choice < 0.7) await send(of, owner, pick(CONTENTS) ?? '');
    else if (choice < 0.75) {
      const file = pick(await of.files.list({ owner }));
      if (file) await enqueue(of, owner, { files: { 'x.txt': file.fileId } });
    } else if (choice < 0.8) {
      if (job) await enqueue(of, owner, { filesOfJob: job.jobId });
    } else if (choice < 0.9) {
      if (job) await forget(of, job);
    } else if (choice < 0.95) {
      for (const one of jobs.filter((one) => one.owner === owner)) await forget(of, one);
      await of.removal.forget(owner);
    } else await of.removal.recover();
  };
  const settle = async () => {
    await Promise.all(running.filter(({ of }) => !of.hasEnded).map(({ step }) => step));
    running = [];
    // What an ended process had begun.
    for (let turns = 0; turns < 50; turns++) await turn();
  };
  const assertKept = async (file: { contentId: string; sha256: string; name: string }, of: string) => {
    const content = store.contents.get(contentKeyOf(file));
    assert(content, `${of}: the content of ${file.name} is in the store`);
    assert.equal(createHash('sha256').update(content).digest('hex'), file.sha256);
  };
  const assertWhole = async () => {
    assert.deepEqual(store.faults, []);
    for (const owner of OWNERS) {
      const files = await storage.files.of(owner, 1_000);
      for (const file of files) if (file.phase === 'stored') await assertKept(file, owner);
      const { files: number, bytes } = await storage.files.usage(owner);
      assert(number <= LIMITS.mostFiles && bytes <= LIMITS.mostBytes, 'the limits hold');
    }
    for (const { jobId } of jobs) {
      const set = await storage.files.usedBy(jobId);
      if (!set) continue;
      const files = await filesOf(storage.files, set);
      assert.equal(files.length, set.entries.length, `${jobId} has all its files`);
      for (const file of files) await assertKept(file, jobId);
    }
  };

  for (let steps = 0; steps < STEPS; steps++) {
    const index = random() < 0.5 ? 0 : 1;
    const of = processes[index] ?? begin(index);
    running.push({ step: step(of).catch(assertExpected), of });
    if (mayEnd && random() < 0.05) {
      of.hasEnded = true;
      processes[index] = begin(index);
    }
    if (random() < 0.03) {
      // Nothing that a process began before it ended happens after its hour.
      if (mayEnd) await settle();
      clock.advance((random() < 0.5 ? 10 : 100) * 60_000);
    }
    if (random() < 0.5) await turn();
    if (random() < 0.15) {
      await settle();
      await assertWhole();
    }
  }
  await settle();
  await assertWhole();
  // Opened as a client does.
  store.failing = 0;
  const last = begin(0);
  for (const owner of OWNERS)
    for (const { fileId, sha256 } of await last.files.list({ owner })) {
      const content = await buffer((await last.files.open(fileId)).stream);
      assert.equal(createHash('sha256').update(content).digest('hex'), sha256);
    }
  for (const job of jobs) await forget(last, job);
  for (const owner of OWNERS)
    if (random() < 0.5) await last.removal.forget(owner);
    else for (const { fileId } of await last.files.list({ owner })) await last.files.remove(fileId);
  for (let hours = 0; hours < 3; hours++) {
    clock.advance(3_600_000);
    await last.removal.recover();
  }
  assert.deepEqual(store.faults, []);
  assert.deepEqual([...store.contents.keys()], [], 'no content is left');
  for (const owner of OWNERS) {
    assert.deepEqual(await storage.files.of(owner, 10), []);
    for (const { jobId } of jobs) assert.equal(await storage.files.usedBy(jobId), undefined);
  }
}

async function histories(t: Test, storages: readonly [Storage, Storage], count: number): Promise<void> {
  const folder = await temporaryFolder(t);
  const first = Number(process.env['SEED'] ?? 1);
  for (let seed = first; seed < first + count; seed++) {
    try {
      await history(storages, folder, seed);
    } catch (error) {
      t.error(error, `the history of seed ${seed}`);
      return;
    }
  }
  t.pass(`${count} histories`);
}

t.test('in one process after another, with SQLite', async (t) => {
  const dataFolder = new DataFolder(await temporaryFolder(t));
  await dataFolder.start();
  t.teardown(() => dataFolder.stop());
  const { storage } = dataFolder;
  await histories(t, [storage, storage], times('FILE_HISTORIES', { quick: 5, deep: 30 }));
});

t.test('in two processes at once, with Postgres', async (t) => {
  const schema = newSchema();
  const storages = [await openPostgres(t, { schema }), await openPostgres(t, { schema })] as const;
  await histories(t, [storages[0], storages[1]], times('FILE_HISTORIES', { quick: 10, deep: 30 }));
});
