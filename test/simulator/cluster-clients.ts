import assert from 'node:assert/strict';
import type { Job, StoredLedger } from '../../lib/index.ts';
import type { Storage } from '../../lib/storage/storage.ts';
import type { ClusterRecorder } from './cluster-recorder.ts';
import type { Member } from './simulated-member.ts';
import type { SimulatedTime } from './simulated-time.ts';

const OWNERS = ['ada', 'eve', 'kim'];
const CODE = 'class A(Scene): pass';
const REFUSALS =
  /too_many_failures|insufficient_credits|queue_full|conflict|not_running|not_found|storage_failed|billing/;
const LEAST_GRANT = 20;
/** Keys are known for a day, by clocks that differ, and are set. */
const KEY_KNOWN_MS = 20 * 3_600_000;

/** Answers that clients wait for, and the processes that owe them. */
type Pending = Map<Promise<Job>, Member>;

/** Clients and operators of a cluster. Each remembers what it was answered, by any process. */
export class ClusterClients {
  readonly #random: () => number;
  readonly #time: SimulatedTime;
  readonly #recorder: ClusterRecorder;
  /** Jobs as a client saw them last. */
  readonly #known = new Map<string, Job>();
  readonly #jobIds: string[] = [];
  /** The jobs of idempotency keys, and when they were seen first. */
  readonly #keys = new Map<string, { jobId: string; atMs: number }>();
  readonly #grants = new Map<string, string>();
  readonly #sentAgain: string[] = [];
  /** What clients wait for, and where. */
  readonly #waits: Pending = new Map();
  /** Jobs that are being added. */
  readonly #adding: Pending = new Map();

  constructor({
    random,
    time,
    recorder,
  }: {
    random: () => number;
    time: SimulatedTime;
    recorder: ClusterRecorder;
  }) {
    this.#random = random;
    this.#time = time;
    this.#recorder = recorder;
  }

  /** How many jobs were seen. */
  get jobs(): number {
    return this.#known.size;
  }

  /** Whether a process that lives adds a job. */
  get isAdding(): boolean {
    return isPendingIn(this.#adding);
  }

  /** Whether a client waits for a job's end, at a process that lives. */
  get isWaiting(): boolean {
    return isPendingIn(this.#waits);
  }

  /** One random operation of a client or an operator. */
  act(member: Member): void {
    const { service, ledger } = member;
    const chance = this.#random();
    const owner = this.#oneOf(OWNERS) as string;
    const jobId = this.#oneOf(this.#jobIds);
    if (chance < 0.55) {
      const key = this.#random() < 0.2 ? `key-${Math.floor(this.#random() * 50)}` : undefined;
      const answer = service.enqueue({
        owner,
        code: CODE,
        className: 'A',
        quality: 'low',
        ...(this.#random() < 0.5 && { webhookUrl: 'https://receiver.example/' }),
        ...(key && { idempotency: { key, fingerprint: 'same' } }),
      });
      this.#add(member, answer, key);
    } else if (chance < 0.68 && jobId) this.told(member, service.cancel(jobId), (job) => this.#seeEnd(job));
    else if (chance < 0.78 && jobId) this.#get(member, jobId);
    else if (chance < 0.84 && jobId) this.#wait(member, jobId);
    else if (chance < 0.87 && jobId) this.#add(member, service.renderAgain(jobId));
    else if (chance < 0.9) this.told(member, this.#sendAgain(member), (id) => this.#sentAgain.push(id));
    else if (chance < 0.93 && ledger) {
      const number = Math.floor(this.#random() * 20);
      const idempotencyKey = `${owner}-grant-${number}`;
      const granted = ledger.grantPaid(owner, LEAST_GRANT + number, { idempotencyKey, note: idempotencyKey });
      this.told(member, granted, () => this.#grants.set(idempotencyKey, owner));
    } else if (chance < 0.95) this.told(member, service.pauseQueue());
    else if (chance < 0.98) this.told(member, service.resumeQueue());
    else if (ledger)
      this.told(member, ledger.audit(), ({ problems }) =>
        assert.deepEqual(problems, [], 'the audit is clean'),
      );
  }

  /** Records an answer to a client, unless the process that owes it died. */
  told<T>(member: Member, answer: Promise<T>, then: (value: T) => void = () => {}): void {
    this.#recorder.watch(
      answer.then(
        (value) => {
          if (member.state === 'dead') return;
          this.#recorder.record('answer', value);
          then(value);
        },
        (error: Error & { code?: string }) => {
          this.#recorder.record('refusal', `${error.code} ${error.message}`);
          assert.match(`${error.code} ${error.message}`, REFUSALS);
        },
      ),
    );
  }

  /** What was seen to have ended is read so by each process. */
  #get(member: Member, jobId: string): void {
    const before = this.#known.get(jobId);
    this.told(member, member.service.get(jobId), (job) => {
      if (before && hasEnded(before)) assert.deepEqual(job, before, 'a job that has ended is read so');
      this.see(job);
    });
  }

  #wait(member: Member, jobId: string): void {
    const waited = this.#random() < 0.5 ? member.service.wait(jobId) : this.#follow(member, jobId);
    track(this.#waits, waited, member);
    this.told(member, waited, (job) => this.#seeEnd(job));
  }

  #seeEnd(job: Job): void {
    assert(hasEnded(job), 'a wait ends with the job');
    this.see(job);
  }

  async #follow({ service }: Member, jobId: string): Promise<Job> {
    let last: Job | undefined;
    for await (const event of service.follow(jobId)) if (event.type === 'job') last = event.job;
    assert(last);
    return last;
  }

  async #sendAgain({ service: { deliveries } }: Member): Promise<string> {
    const [delivery] = await deliveries.list({ limit: 1 });
    return (await deliveries.sendAgain(delivery?.deliveryId ?? 'none')).deliveryId;
  }

  #add(member: Member, answer: Promise<Job>, key?: string): void {
    track(this.#adding, answer, member);
    this.told(member, answer, (job) => this.#added(job, key));
  }

  #added(job: Job, key?: string): void {
    this.see(job);
    if (!this.#jobIds.includes(job.jobId)) this.#jobIds.push(job.jobId);
    if (!key) return;
    const name = `${job.owner} ${key}`;
    const first = this.#keys.get(name);
    const isNew = !first || this.#time.uptimeMs - first.atMs > KEY_KNOWN_MS;
    if (!isNew) assert.equal(job.jobId, first.jobId, `the key ${key} of ${job.owner} made one job`);
    if (job.jobId !== first?.jobId) this.#keys.set(name, { jobId: job.jobId, atMs: this.#time.uptimeMs });
  }

  /** An earlier state may be reported late, but no other end. */
  see(job: Job): void {
    this.#recorder.record('job', job);
    const before = this.#known.get(job.jobId);
    if (before && hasEnded(before)) {
      if (hasEnded(job)) assert.deepEqual(job, before, 'a job that has ended does not change');
      return;
    }
    this.#known.set(job.jobId, job);
  }

  /** `jobs`: all at the end. */
  assertKept(jobs: Job[]): void {
    const byId = new Map(jobs.map((job) => [job.jobId, job]));
    for (const [jobId, known] of this.#known) {
      const job = byId.get(jobId);
      assert(job, `${jobId} exists`);
      if (hasEnded(known)) assert.deepEqual(job, known, 'what had ended is as it was');
    }
  }

  /** Deliveries that were sent again exist, and grants were made once. */
  async assertAcknowledged({ storage, ledger }: { storage: Storage; ledger: StoredLedger }): Promise<void> {
    for (const deliveryId of this.#sentAgain) assert(await storage.deliveries.get(deliveryId));
    const entries = (
      await Promise.all(OWNERS.map((owner) => ledger.statement(owner, { limit: 1_000_000 })))
    ).flat();
    for (const [key, owner] of this.#grants) {
      const made = entries.filter(({ note }) => note === key).map((entry) => entry.owner);
      assert.deepEqual(made, [owner], `${key} was made once`);
    }
  }

  #oneOf<T>(all: T[]): T | undefined {
    return all[Math.floor(this.#random() * all.length)];
  }
}

function hasEnded({ status }: Job): boolean {
  return status === 'completed' || status === 'failed';
}

function track(all: Pending, answer: Promise<Job>, member: Member): void {
  all.set(answer, member);
  const over = () => all.delete(answer);
  answer.then(over, over);
}

/** At processes that live. */
function isPendingIn(all: Pending): boolean {
  return [...all.values()].some(({ state }) => state !== 'dead');
}
