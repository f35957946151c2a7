import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { DataFolder } from '../../lib/index.ts';
import type { Answer, Question } from '../fixtures/crashing-program.ts';
import { times } from '../fixtures/depth.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { testFolder } from '../fixtures/test-folder.ts';

const LIVES = times('LIVES', { quick: 5, deep: 10 });
const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const DRIVERS = 6;
const MAX_ACTS = 60;

/** Everything that was acknowledged and must be stored in the end. */
const acknowledged = {
  jobs: new Map<string, string>(),
  canceled: new Set<string>(),
  grants: new Map<string, number>(),
  revoked: new Map<string, string>(),
  keys: new Map<string, string>(),
  stills: new Map<string, { owner: string; creditsCost: number }>(),
};
const random = seededRandom(SEED);
const pick = <T>(list: T[]): T | undefined => list[Math.floor(random() * list.length)];

interface Posted {
  status: number;
  jobId?: string;
  /** The message of an error. */
  message?: string;
}

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

  /** Undefined if the service was killed before it answered. */
  ask<T>(question: Omit<Question, 'id'> & Record<string, unknown>): Promise<T | undefined> {
    const id = this.#questions++;
    return new Promise((resolve) => {
      this.#answers.set(id, (answer) => resolve(answer as T));
      this.#child.send({ id, ...question }, (error) => error && resolve(undefined));
    });
  }

  async post(key: string, body: object): Promise<Posted | undefined> {
    try {
      const response = await fetch(`http://127.0.0.1:${this.port}/api/v2/render`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify(body),
      });
      return { ...((await response.json()) as object), status: response.status };
    } catch {
      return undefined; // The service was killed.
    }
  }

  async kill(): Promise<void> {
    if (this.#child.signalCode !== null || this.#child.exitCode !== null) return;
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exit;
  }
}

/** Performs one random operation of a client or an operator, and records what was acknowledged. */
async function act(life: Life): Promise<void> {
  const owner = `owner-${Math.floor(random() * 3)}`;
  const dice = random();
  if (dice < 0.1 || acknowledged.keys.size === 0) {
    const minted = await life.ask<{ key: string; keyId: string }>({ ask: 'mint', accountId: owner });
    if (minted?.key) acknowledged.keys.set(minted.keyId, minted.key);
  } else if (dice < 0.2) {
    const note = `grant ${acknowledged.grants.size} ${random()}`;
    const amountCredits = Math.floor(random() * 100) + 1;
    const answer = await life.ask<{ total?: number }>({ ask: 'grant', owner, amountCredits, note });
    if (answer?.total !== undefined) acknowledged.grants.set(note, amountCredits);
  } else if (dice < 0.23 && acknowledged.keys.size > 3) {
    const [keyId, key] = pick([...acknowledged.keys]) as [string, string];
    acknowledged.keys.delete(keyId); // It may be revoked even if no answer arrives.
    const answer = await life.ask<{ revokedAtMs?: number }>({ ask: 'revoke', keyId });
    if (answer?.revokedAtMs) acknowledged.revoked.set(keyId, key);
  } else if (dice < 0.33) {
    const jobId = pick([...acknowledged.jobs.keys()]);
    const job = jobId && (await life.ask<{ status?: string; error?: string }>({ ask: 'cancel', jobId }));
    if (job && job.status === 'failed' && job.error === 'Canceled') acknowledged.canceled.add(jobId);
  } else if (dice < 0.45) {
    const code = pick(['x', 'x', 'x', 'fail']) as string;
    const still = await life.ask<{ snapshotId?: string; creditsCost?: number }>({
      ask: 'still',
      owner,
      code,
    });
    if (still?.snapshotId)
      acknowledged.stills.set(still.snapshotId, { owner, creditsCost: still.creditsCost ?? 0 });
  } else {
    const key = pick([...acknowledged.keys.values()]) as string;
    const code = pick(['x', 'x', 'x', 'x', 'fail', 'die']) as string;
    const answer = await life.post(key, { code, className: 'A', quality: 'low' });
    if (answer?.status === 202) acknowledged.jobs.set(String(answer.jobId), code);
    else if (answer?.status === 401 && ![...acknowledged.keys.values()].includes(key))
      return; // The key was revoked concurrently.
    else if (answer && answer.status !== 402)
      throw new Error(`POST was answered with ${answer.status}: ${answer.message}`);
  }
}

/** Appends to the log what a power cut may leave at its end. */
function disturbLog(folder: string): void {
  const path = join(folder, 'database.sqlite-wal');
  if (!existsSync(path)) return;
  const dice = random();
  if (dice < 0.2) appendFileSync(path, readFileSync(path).subarray(-Math.floor(random() * 5000)));
  else if (dice < 0.4) appendFileSync(path, Buffer.alloc(Math.floor(random() * 5000)));
}

t.test(`a service that is killed ${LIVES} times loses nothing that it acknowledged`, async (t) => {
  t.comment(`SEED=${SEED} repeats the random choices`);
  const folder = testFolder(t);
  for (let number = 0; number < LIVES; number++) {
    const life = await Life.begin(folder);
    let alive = true;
    // The kill comes after a number of operations, so it does not depend on the speed of the machine.
    let actsLeft = Math.floor(random() * MAX_ACTS);
    const drivers = Array.from({ length: DRIVERS }, async () => {
      while (alive) {
        await act(life);
        actsLeft -= 1;
        if (actsLeft > 0 || !alive) continue;
        alive = false;
        await life.kill();
      }
    });
    try {
      await Promise.all(drivers);
    } finally {
      alive = false; // After a failure, the other drivers would continue.
      await life.kill();
    }
    disturbLog(folder);
  }

  const last = await Life.begin(folder);
  t.teardown(() => last.kill());
  const problems: string[] = [];
  let completed = 0;
  for (const [jobId, code] of acknowledged.jobs) {
    // Canceling returns the final state; it does not change a job that has ended.
    const job = await last.ask<{ status: string; error: string | null }>({ ask: 'cancel', jobId });
    const canceled = job?.error === 'Canceled';
    if (job?.status === 'completed') completed += 1;
    // Only its code or a cancellation may fail a job, however often the service was killed.
    const ended =
      job?.status === 'completed' ? code === 'x' : job?.status === 'failed' && (canceled || code !== 'x');
    if (!ended || (acknowledged.canceled.has(jobId) && !canceled))
      problems.push(`${jobId} (${code}): ${JSON.stringify(job)}`);
  }
  t.same(problems, [], 'every accepted job has ended as expected, and canceled jobs are still canceled');
  const statusOf = async (key: string) => (await last.post(key, {}))?.status;
  for (const [keyId, key] of acknowledged.revoked)
    if ((await statusOf(key)) !== 401) problems.push(`${keyId} is accepted although it was revoked`);
  for (const [keyId, key] of acknowledged.keys)
    if ((await statusOf(key)) !== 400) problems.push(`${keyId} is rejected although it was not revoked`);
  t.same(problems, [], 'exactly the revoked keys are rejected');
  for (const [snapshotId, { owner }] of acknowledged.stills)
    if ((await last.ask({ ask: 'picture', snapshotId, owner })) !== 'a video'.length)
      problems.push(`${snapshotId} can't be read`);
  t.same(problems, [], 'every still that was returned can be read');
  await last.kill();

  const data = new DataFolder(folder);
  await data.start();
  t.teardown(() => data.stop());
  const report = await data.ledgerStore.audit();
  t.same(report.problems, [], 'the books are in order');
  for (const [snapshotId, { creditsCost }] of acknowledged.stills)
    t.match(await data.storage.snapshots.get(snapshotId), { phase: 'kept', costCredits: creditsCost });
  const drawn = await data.storage.snapshots.due(Number.MAX_SAFE_INTEGER, 1000);
  t.notOk(
    drawn.some(({ phase }) => phase !== 'kept'),
    'no still is left half made',
  );
  const grants: string[] = [];
  for (const owner of await data.ledgerStore.ownersNotIn('', Number.MAX_SAFE_INTEGER)) {
    const entries = await data.ledgerStore.listEntries(owner, { limit: Number.MAX_SAFE_INTEGER });
    grants.push(
      ...entries.flatMap(({ note, amountCredits }) => (note === null ? [] : [`${note}: ${amountCredits}`])),
    );
  }
  t.equal(new Set(grants).size, grants.length, 'no grant was made twice');
  const missing = [...acknowledged.grants].filter(([note, amount]) => !grants.includes(`${note}: ${amount}`));
  t.same(missing, [], 'every acknowledged grant is stored');
  const unfinished = (await data.storage.unfinishedJobs()).filter(({ jobId }) =>
    acknowledged.jobs.has(jobId),
  );
  t.same(unfinished, [], 'no job is unfinished');
  t.comment(
    `${acknowledged.jobs.size} jobs, ${completed} completed, ${acknowledged.stills.size} stills, ${acknowledged.canceled.size} canceled, ${acknowledged.grants.size} grants, ${acknowledged.revoked.size} revoked`,
  );
  t.ok(acknowledged.jobs.size > LIVES, 'enough jobs were accepted');
  // In a few lives, each job may be interrupted or canceled.
  t.ok(completed > 0 || LIVES < 20, 'and completed');
  t.ok(acknowledged.stills.size > 0 || LIVES < 20, 'and stills drawn');
});
