import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { DataFolder } from '../../lib/index.ts';
import { isRelease } from '../fixtures/depth.ts';
import { type LedgerCall, type ServedLedger, serveLedger } from '../fixtures/http-ledger.ts';
import { testFolder } from '../fixtures/test-folder.ts';

const PROGRAM = join(import.meta.dirname, '../fixtures/external-ledger-program.ts');
const BALANCE = 100_000;

/** Runs of a service on one folder, with this process as its ledger. */
class History {
  readonly #folder: string;
  readonly ledger: ServedLedger;
  readonly #accepted: string[] = [];

  private constructor(folder: string, ledger: ServedLedger) {
    this.#folder = folder;
    this.ledger = ledger;
  }

  static async begin(t: Test): Promise<History> {
    return new History(testFolder(t), await serveLedger(t, BALANCE));
  }

  /** Runs the service once. Returns false if it was killed before its work was done. `die` kills it. */
  async live(
    makeFaultOf: (die: () => void) => ServedLedger['faultOf'],
    ...settings: string[]
  ): Promise<boolean> {
    const child = spawn(process.execPath, [PROGRAM, this.#folder, this.ledger.url, ...settings], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.ledger.faultOf = makeFaultOf(() => child.kill('SIGKILL'));
    const [said, [code, signal]] = await Promise.all([text(child.stdout), once(child, 'close')]);
    this.ledger.faultOf = () => undefined;
    if (signal !== 'SIGKILL' && code !== 0) throw new Error(`the service ended with ${code ?? signal}`);
    this.#accepted.push(...[...said.matchAll(/accepted (\S+)/g)].map(([, jobId]) => jobId as string));
    return said.includes('done');
  }

  /** Checks that jobs, deliveries and the ledger agree, and that every accepted job is stored. */
  async checkConsistency(t: Test): Promise<void> {
    const { books, problems } = this.ledger;
    const data = new DataFolder(this.#folder);
    await data.start();
    const jobs = await data.storage.listJobs({ limit: 100_000 });
    const deliveries = await data.storage.deliveries.list({ limit: 100_000 });
    await data.stop();

    t.same(problems, [], 'no settled or voided reserve has changed');
    const isEnded = ({ phase }: { phase: string }) => phase === 'completed' || phase === 'failed';
    t.same(
      jobs.filter((job) => !isEnded(job)),
      [],
      'every job has ended',
    );
    const ids = new Set(jobs.map(({ jobId }) => jobId));
    t.same(
      this.#accepted.filter((jobId) => !ids.has(jobId)),
      [],
      'every accepted job is stored',
    );
    for (const { jobId, phase, creditsCost } of jobs) {
      const expected = phase === 'completed' ? `settled ${creditsCost}` : 'voided 0';
      const { state, amount } = books.jobs.get(jobId) ?? {};
      if (`${state} ${amount}` !== expected) t.fail(`${jobId} is ${phase}, but ${state} ${amount}`);
    }
    const open = [...books.jobs].filter(([, { state }]) => state === 'open');
    t.same(open, [], 'no reserve is open');
    const unknown = [...books.jobs].filter(([jobId, { state }]) => !ids.has(jobId) && state !== 'voided');
    t.same(unknown, [], 'only stored jobs were charged');
    const charged = jobs.reduce((sum, { creditsCost }) => sum + creditsCost, 0);
    t.equal(books.balanceCredits, BALANCE - charged, 'the balance has decreased by all charges');
    t.same(deliveries.map(({ jobId }) => jobId).sort(), [...ids].sort(), 'each job has one delivery');
    t.ok(jobs.some(({ phase }) => phase === 'completed') && jobs.some(({ phase }) => phase === 'failed'));
  }
}

/** Before a release it is killed at each place, otherwise at one of three. */
const STEP = isRelease ? 1 : 6;
const FIRST = -randomInt(STEP);

for (const when of ['before', 'after'] as const) {
  t.test(
    `a service killed just ${when} each ledger call is applied neither leaks nor repeats a charge`,
    async (t) => {
      const history = await History.begin(t);
      let [done, killAt] = [false, FIRST];
      while (!done) {
        killAt += STEP;
        let calls = 0;
        done = await history.live((die) => () => {
          calls += 1;
          return calls === killAt ? (when === 'before' ? { before: die } : { after: die }) : undefined;
        });
      }
      t.ok(killAt > 6, `it was killed up to call ${killAt - STEP}`);
      await history.checkConsistency(t);
    },
  );
}

t.test('a service killed before each flush of its commits neither leaks nor repeats a charge', async (t) => {
  const history = await History.begin(t);
  let [done, killAt] = [false, FIRST];
  while (!done) {
    killAt += STEP;
    done = await history.live(() => () => undefined, `kill=${killAt}`);
  }
  t.ok(killAt > 12, `it was killed before flushes up to ${killAt - STEP}`);
  await history.checkConsistency(t);
});

for (const fault of ['fails', 'times out', 'arrives twice'] as const) {
  t.test(
    `a ledger whose first call for each job ${fault} delays jobs but neither leaks nor repeats a charge`,
    async (t) => {
      const history = await History.begin(t);
      for (const chances of [1, 2]) {
        const asked = new Set<string>();
        const atFirst = (call: LedgerCall, jobId: string) => {
          const isFirst = !asked.has(call + jobId);
          asked.add(call + jobId);
          return isFirst ? fault : undefined;
        };
        t.ok(await history.live(() => atFirst, `chances=${chances}`), 'all jobs end');
      }
      await history.checkConsistency(t);
    },
  );
}
