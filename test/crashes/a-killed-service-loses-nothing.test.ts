import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { DataFolder } from '../../lib/index.ts';
import type { Answer, Question } from '../fixtures/crashing-program.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';

const LIVES = Number(process.env['LIVES'] ?? 100);
const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const DRIVERS = 6;
const MOST_ACTS = 60;

/** What was acknowledged: all of it must be there in the end. */
const told = {
  jobs: new Map<string, string>(),
  canceled: new Set<string>(),
  grants: new Map<string, number>(),
  revoked: new Map<string, string>(),
  keys: new Map<string, string>(),
};
const random = seededRandom(SEED);
const pick = <T>(list: T[]): T | undefined => list[Math.floor(random() * list.length)];

class Life {
  readonly #child: ChildProcess;
  readonly #answers = new Map<number, (answer: unknown) => void>();
  #questions = 0;
  port = 0;

  private constructor(folder: string) {
    const program = join(import.meta.dirname, '../fixtures/crashing-program.ts');
    this.#child = fork(program, [folder], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    this.#child.on('message', (message: Answer) => {
      if ('port' in message) this.port = message.port;
      else this.#answers.get(message.id)?.(message.answer);
    });
    this.#child.once('exit', () => {
      for (const answer of this.#answers.values()) answer(undefined);
    });
  }

  static async begin(folder: string): Promise<Life> {
    const life = new Life(folder);
    const first = await Promise.race([once(life.#child, 'message'), once(life.#child, 'exit')]);
    if (life.port === 0) throw new Error(`the service did not start: exit ${first}`);
    return life;
  }

  /** Undefined when it was killed before it answered. */
  ask<T>(question: Omit<Question, 'id'> & Record<string, unknown>): Promise<T | undefined> {
    const id = this.#questions++;
    return new Promise((resolve) => {
      this.#answers.set(id, (answer) => resolve(answer as T));
      this.#child.send({ id, ...question }, (error) => error && resolve(undefined));
    });
  }

  async post(key: string, body: object): Promise<{ status: number; jobId?: string } | undefined> {
    try {
      const response = await fetch(`http://127.0.0.1:${this.port}/api/v2/render`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify(body),
      });
      const { jobId } = (await response.json()) as { jobId?: string };
      return { status: response.status, ...(jobId !== undefined && { jobId }) };
    } catch {
      return undefined; // Killed meanwhile.
    }
  }

  async kill(): Promise<void> {
    if (this.#child.signalCode) return;
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exit;
  }
}

/** Does one thing that a client or an operator does, and notes what it was told. */
async function act(life: Life): Promise<void> {
  const owner = `owner-${Math.floor(random() * 3)}`;
  const dice = random();
  if (dice < 0.1 || told.keys.size === 0) {
    const minted = await life.ask<{ key: string; keyId: string }>({ ask: 'mint', accountId: owner });
    if (minted?.key) told.keys.set(minted.keyId, minted.key);
  } else if (dice < 0.2) {
    const note = `grant ${told.grants.size} ${random()}`;
    const amountCredits = Math.floor(random() * 100) + 1;
    const answer = await life.ask<{ total?: number }>({ ask: 'grant', owner, amountCredits, note });
    if (answer?.total !== undefined) told.grants.set(note, amountCredits);
  } else if (dice < 0.23 && told.keys.size > 3) {
    const [keyId, key] = pick([...told.keys]) as [string, string];
    told.keys.delete(keyId); // Whether or not the answer comes, it may be revoked.
    const answer = await life.ask<{ revokedAtMs?: number }>({ ask: 'revoke', keyId });
    if (answer?.revokedAtMs) told.revoked.set(keyId, key);
  } else if (dice < 0.33) {
    const jobId = pick([...told.jobs.keys()]);
    const job = jobId && (await life.ask<{ status?: string; error?: string }>({ ask: 'cancel', jobId }));
    if (job && job.status === 'failed' && job.error === 'Canceled') told.canceled.add(jobId);
  } else {
    const key = pick([...told.keys.values()]) as string;
    const code = pick(['x', 'x', 'x', 'x', 'fail', 'die']) as string;
    const answer = await life.post(key, { code, className: 'A', quality: 'low' });
    if (answer?.status === 202) told.jobs.set(String(answer.jobId), code);
    else if (answer?.status === 401 && ![...told.keys.values()].includes(key))
      return; // Revoked meanwhile.
    else if (answer && answer.status !== 402) throw new Error(`POST was answered with ${answer.status}`);
  }
}

/** What a power cut may leave at the log's end. */
function disturbLog(folder: string): void {
  const path = join(folder, 'database.sqlite-wal');
  if (!existsSync(path)) return;
  const dice = random();
  if (dice < 0.2) appendFileSync(path, readFileSync(path).subarray(-Math.floor(random() * 5000)));
  else if (dice < 0.4) appendFileSync(path, Buffer.alloc(Math.floor(random() * 5000)));
}

t.test(`a service that is killed ${LIVES} times loses nothing that it acknowledged`, async (t) => {
  t.comment(`SEED=${SEED} makes the same choices again`);
  const folder = t.testdir();
  for (let number = 0; number < LIVES; number++) {
    const life = await Life.begin(folder);
    t.teardown(() => life.kill());
    let alive = true;
    // However slow the machine is: after some acts of one driver, amid those of the others.
    let actsLeft = Math.floor(random() * MOST_ACTS);
    const drivers = Array.from({ length: DRIVERS }, async () => {
      while (alive) {
        await act(life);
        actsLeft -= 1;
        if (actsLeft > 0 || !alive) continue;
        alive = false;
        await life.kill();
      }
    });
    await Promise.all(drivers);
    disturbLog(folder);
  }

  const last = await Life.begin(folder);
  t.teardown(() => last.kill());
  const problems: string[] = [];
  let completed = 0;
  for (const [jobId, code] of told.jobs) {
    // Its end is waited for: cancelling a job that is over changes nothing.
    const job = await last.ask<{ status: string; error: string | null }>({ ask: 'cancel', jobId });
    const canceled = job?.error === 'Canceled';
    if (job?.status === 'completed') completed += 1;
    // However often the service was killed meanwhile, only the code of a job, or a cancellation, fails it.
    const ended =
      job?.status === 'completed' ? code === 'x' : job?.status === 'failed' && (canceled || code !== 'x');
    if (!ended || (told.canceled.has(jobId) && !canceled))
      problems.push(`${jobId} (${code}): ${JSON.stringify(job)}`);
  }
  t.same(problems, [], 'every job that was accepted has ended as it may, and what was canceled stays so');
  const statusOf = async (key: string) => (await last.post(key, {}))?.status;
  for (const [keyId, key] of told.revoked)
    if ((await statusOf(key)) !== 401) problems.push(`${keyId} is alive again`);
  for (const [keyId, key] of told.keys) if ((await statusOf(key)) !== 400) problems.push(`${keyId} is dead`);
  t.same(problems, [], 'keys are as they were told to be');
  await last.kill();

  const data = new DataFolder(folder);
  await data.start();
  t.teardown(() => data.stop());
  const report = await data.ledgerStore.audit();
  t.same(report.problems, [], 'the books are in order');
  const grants: string[] = [];
  for (const owner of await data.ledgerStore.ownersNotIn('', Number.MAX_SAFE_INTEGER)) {
    const entries = await data.ledgerStore.listEntries(owner, { limit: Number.MAX_SAFE_INTEGER });
    grants.push(
      ...entries.flatMap(({ note, amountCredits }) => (note === null ? [] : [`${note}: ${amountCredits}`])),
    );
  }
  t.equal(new Set(grants).size, grants.length, 'a grant is there once');
  const missing = [...told.grants].filter(([note, amount]) => !grants.includes(`${note}: ${amount}`));
  t.same(missing, [], 'a grant that was acknowledged is there');
  const unfinished = (await data.storage.unfinishedJobs()).filter(({ jobId }) => told.jobs.has(jobId));
  t.same(unfinished, [], 'no job is left over');
  t.comment(
    `${told.jobs.size} jobs, ${told.canceled.size} canceled, ${told.grants.size} grants, ${told.revoked.size} revoked`,
  );
  t.ok(told.jobs.size > LIVES && completed > 0, 'there was something to lose');
});
