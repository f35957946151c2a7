import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { isScenepressError } from '../../../lib/errors.ts';
import { type Disk, realDisk } from '../../../lib/storage/disk.ts';
import { LowdbDatabase } from '../../../lib/storage/lowdb/database.ts';
import type { LowdbTransaction } from '../../../lib/storage/lowdb/transaction.ts';
import { alteredDisk } from '../../fixtures/altered-disk.ts';

interface Row {
  text: string;
}

/** All stay in memory; and those that have an archive. */
const TABLES = ['rows', 'archived'] as const;
interface Place {
  table: (typeof TABLES)[number];
  id: string;
}

const place = fc.record({ table: fc.constantFrom(...TABLES), id: fc.nat(12).map((n) => `id-${n}`) });
const turns = fc.nat(50);
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('put', 'remove', 'read'), place }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), turns }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
const histories = fc.record({
  /** What each transaction does, and so many turns of the event loop after the one before it is begun. */
  transactions: fc.array(fc.record({ steps: fc.array(step, { maxLength: 12 }), after: fc.nat(3) }), {
    minLength: 1,
    maxLength: 25,
  }),
  /** Of each write to the journal. */
  faults: fc.array(fc.option(fc.constantFrom('unwritten', 'written', 'not cut off')), { maxLength: 12 }),
  areFinished: fc.boolean(),
});

/** What a transaction did, in order: what it read, and what it wrote (undefined: removed). */
type Deed = { place: Place; read: string | undefined } | { place: Place; wrote: string | undefined };

t.test('transactions that overlap, and some of which fail, are as if done one by one', async (t) => {
  const property = fc.asyncProperty(histories, async ({ transactions, faults, areFinished }) => {
    const folder = t.testdir();
    const disk = failingDisk(faults);
    let opened = await open(folder, { disk, areFinished });
    const { database } = opened;

    const succeeded: Deed[][] = [];
    const running = transactions.map(async ({ steps, after }, i) => {
      await pass(i + after);
      try {
        succeeded.push(await database.transaction((tx) => doAll(tx, steps, `${i}`)));
      } catch (error) {
        if (!isScenepressError(error, 'storage_failed')) throw error;
      }
    });
    await Promise.all(running);

    const model = new Model(succeeded.flat());
    await model.assertIn(opened);
    await database.stop();
    opened = await open(folder, { disk: realDisk, areFinished });
    await model.assertIn(opened);
    await opened.database.stop();
  });
  await fc.assert(property, { numRuns: 200 });
});

interface Opened {
  database: LowdbDatabase;
  /** What a listener was told of, of rows that stay in memory. */
  heard: Map<string, unknown>;
}

async function open(folder: string, options: { disk: Disk; areFinished: boolean }): Promise<Opened> {
  const database = new LowdbDatabase(folder, { disk: options.disk, snapshotAfterBytes: 2000 });
  const heard = new Map<string, unknown>();
  database.archive('archived' satisfies Place['table'], { finished: () => options.areFinished });
  database.listen('rows' satisfies Place['table'], (id, before, after) => {
    assert.equal(before, heard.get(id), 'a listener is told what was there');
    if (after === undefined) heard.delete(id);
    else heard.set(id, after);
  });
  await database.start();
  return { database, heard };
}

async function doAll(tx: LowdbTransaction, steps: Step[], name: string): Promise<Deed[]> {
  const deeds: Deed[] = [];
  for (const [i, step] of steps.entries()) {
    if ('turns' in step) {
      await pass(step.turns);
      continue;
    }
    const { place } = step;
    const { table, id } = place;
    if (step.do === 'read') {
      const row = table === 'rows' ? tx.get<Row>(table, id) : await tx.find<Row>(table, id);
      deeds.push({ place, read: row?.text });
    } else if (step.do === 'put') {
      const text = `${name}.${i}`;
      tx.put(table, id, { text });
      deeds.push({ place, wrote: text });
    } else {
      tx.remove(table, id);
      deeds.push({ place, wrote: undefined });
    }
  }
  return deeds;
}

/** What there is after deeds that were done one by one. */
class Model {
  readonly #texts = new Map<string, { place: Place; text: string | undefined }>();

  constructor(deeds: Deed[]) {
    for (const deed of deeds) {
      const { place } = deed;
      const key = `${place.table} ${place.id}`;
      if ('wrote' in deed) this.#texts.set(key, { place, text: deed.wrote });
      else assert.equal(deed.read, this.#texts.get(key)?.text, 'what was read is what was written before');
    }
  }

  async assertIn({ database, heard }: Opened): Promise<void> {
    const inRows = new Map<string, unknown>();
    for (const { place, text } of this.#texts.values()) {
      const { table, id } = place;
      const row = table === 'rows' ? database.get<Row>(table, id) : await database.find<Row>(table, id);
      assert.equal(row?.text, text, `${table} ${id}`);
      if (table === 'rows' && row) inRows.set(id, row);
    }
    assert.deepEqual(heard, inRows);
  }
}

/** How a write fails: before anything or after all is written; then its bytes may be impossible to cut off at first. */
type Fault = 'unwritten' | 'written' | 'not cut off';

function failingDisk(faults: (Fault | null)[]): Disk {
  let writes = 0;
  let stays = false;
  const fault = () => Object.assign(new Error('it fails'), { code: 'EIO' });
  return alteredDisk((file) => ({
    writeNow(bytes, position) {
      const how = faults[writes++] ?? null;
      if (how !== 'unwritten') file.writeNow(bytes, position);
      stays = how === 'not cut off';
      if (how !== null) throw fault();
    },
    async truncate(sizeBytes) {
      const fails = stays;
      stays = false;
      if (fails) throw fault();
      await file.truncate(sizeBytes);
    },
  }));
}

async function pass(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
}
