import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { DataFolder } from '../../lib/index.ts';
import { type LedgerCall, type ServedLedger, serveLedger } from '../fixtures/http-ledger.ts';

const PROGRAM = join(import.meta.dirname, '../fixtures/billed-program.ts');
const BALANCE = 100_000;

/** Lives of a service in one folder, whose ledger is this process. */
class History {
  readonly #folder: string;
  readonly ledger: ServedLedger;
  readonly #accepted: string[] = [];

  private constructor(folder: string, ledger: ServedLedger) {
    this.#folder = folder;
    this.ledger = ledger;
  }

  static async begin(t: Test): Promise<History> {
    return new History(t.testdir(), await serveLedger(t, BALANCE));
  }

  /** One life; false when it was killed before its work was done. `die` kills it. */
  async live(mishapOf: (die: () => void) => ServedLedger['mishap'], ...settings: string[]): Promise<boolean> {
    const child = spawn(process.execPath, [PROGRAM, this.#folder, this.ledger.url, ...settings], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.ledger.mishap = mishapOf(() => child.kill('SIGKILL'));
    const [said, [code, signal]] = await Promise.all([text(child.stdout), once(child, 'close')]);
    this.ledger.mishap = () => undefined;
    if (signal !== 'SIGKILL' && code !== 0) throw new Error(`the service ended with ${code ?? signal}`);
    this.#accepted.push(...[...said.matchAll(/accepted (\S+)/g)].map(([, jobId]) => jobId as string));
    return said.includes('done');
  }

  /** Jobs, deliveries and the other's books say the same, and nothing that was acknowledged is lost. */
  async isInOrder(t: Test): Promise<void> {
    const { books, problems } = this.ledger;
    const data = new DataFolder(this.#folder);
    await data.start();
    const jobs = await data.storage.listJobs({ limit: 100_000 });
    const deliveries = await data.storage.deliveries.list({ limit: 100_000 });
    await data.stop();

    t.same(problems, [], 'what was charged or given back stays so');
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
      'every job that was accepted is there',
    );
    for (const { jobId, phase, creditsCost } of jobs) {
      const expected = phase === 'completed' ? `settled ${creditsCost}` : 'voided 0';
      const { state, amount } = books.jobs.get(jobId) ?? {};
      if (`${state} ${amount}` !== expected) t.fail(`${jobId} is ${phase}, but ${state} ${amount}`);
    }
    const open = [...books.jobs].filter(([, { state }]) => state === 'open');
    t.same(open, [], 'no reserve is left open');
    const strangers = [...books.jobs].filter(([jobId, { state }]) => !ids.has(jobId) && state !== 'voided');
    t.same(strangers, [], 'nothing is charged for a job that is not there');
    const charged = jobs.reduce((sum, { creditsCost }) => sum + creditsCost, 0);
    t.equal(books.balanceCredits, BALANCE - charged, 'the balance is what was not charged');
    t.same(deliveries.map(({ jobId }) => jobId).sort(), [...ids].sort(), 'each job has one delivery');
    t.ok(jobs.some(({ phase }) => phase === 'completed') && jobs.some(({ phase }) => phase === 'failed'));
  }
}

for (const when of ['before', 'after'] as const) {
  t.test(
    `killed just ${when} each call to the ledger is applied, the service leaks and doubles nothing`,
    async (t) => {
      const history = await History.begin(t);
      let [done, killAt] = [false, 0];
      while (!done) {
        killAt += 1;
        let calls = 0;
        done = await history.live((die) => () => {
          calls += 1;
          return calls === killAt ? (when === 'before' ? { before: die } : { after: die }) : undefined;
        });
      }
      t.ok(killAt > 6, `killed at each of ${killAt - 1} calls`);
      await history.isInOrder(t);
    },
  );
}

t.test('killed before each flush of its commits, it leaks and doubles nothing', async (t) => {
  const history = await History.begin(t);
  let [done, killAt] = [false, 0];
  while (!done) {
    killAt += 1;
    done = await history.live(() => () => undefined, `kill=${killAt}`);
  }
  t.ok(killAt > 12, `killed before each of ${killAt - 1} writes`);
  await history.isInOrder(t);
});

for (const mishap of ['fails', 'times out', 'comes twice'] as const) {
  t.test(
    `a ledger whose every first call ${mishap} delays jobs, and neither leaks nor doubles`,
    async (t) => {
      const history = await History.begin(t);
      for (const chances of [1, 2]) {
        const asked = new Set<string>();
        const atFirst = (call: LedgerCall, jobId: string) => {
          const isFirst = !asked.has(call + jobId);
          asked.add(call + jobId);
          return isFirst ? mishap : undefined;
        };
        t.ok(await history.live(() => atFirst, `chances=${chances}`), 'its work gets done');
      }
      await history.isInOrder(t);
    },
  );
}
