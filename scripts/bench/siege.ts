import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { TestAuthority } from '../../test/fixtures/certificates.ts';
import { quantile } from './numbers.ts';
import { PASSWORD } from './person.ts';
import type { AttackOrders, AttackReport } from './siege/attackers.ts';
import { BesiegedService, type Holdings } from './siege/besieged-service.ts';
import { HonestClient, type HonestRecord } from './siege/honest-client.ts';

/** One for each way; see `attackers.ts`. */
const ATTACKERS = 13;
const HONEST_JOB_EVERY_MS = 10_000;
const SAMPLE_MS = 5_000;
const SETTLE_MS = 120_000;
const CREDITS = 100_000_000;
const HONEST = 'honest@example.org';

/**
 * Thirteen accounts attack a service with page tables, hidden files, fork, memory and crash loops, tarpits as receivers,
 * 200 KB of metadata, endless scenes, fuzzed and slow connections, large pages of the dashboard, listings of scenes and
 * sleeping scenes in good standing, while an honest account continues to work.
 * Compares the service for the honest account with and without the attack, and the resources held before and
 * afterwards.
 */
export async function bench(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: 'string', default: '60' },
      'baseline-minutes': { type: 'string', default: '3' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      workers: { type: 'string', default: '2' },
    },
  });
  // Signals would end Node without its exit handlers, which stop the service.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const folder = await mkdtemp(join(tmpdir(), 'scenepress-siege-'));
  const authority = new TestAuthority(folder);
  const service = await BesiegedService.start(join(folder, 'data'), join(folder, 'log.json'), [
    ...['--workers', values.workers],
    ...['--webhooks-allow-networks', '127.0.0.0/8', '--webhooks-ca', authority.caFile],
  ]);
  const honest = await HonestClient.open(
    service.url,
    await newAccount(service, HONEST),
    authority.issue(['127.0.0.1']),
  );
  try {
    const accounts: AttackOrders['accounts'] = [];
    for (let i = 0; i < ATTACKERS; i += 1) {
      const email = `attacker-${i}@example.org`;
      accounts.push({ email, key: await newAccount(service, email) });
      await service.admin(['account', 'set-password', email], `${PASSWORD}\n`);
    }
    const never = new AbortController().signal;
    const soon = performance.now() + Number(values['baseline-minutes']) * 60_000;
    const before = await honest.work(HONEST_JOB_EVERY_MS, soon, never);
    const video = await someVideo(service);
    const held = await settledHoldings(service);

    console.log(`The siege takes ${values.minutes} minutes; seed ${values.seed}.`);
    const attack = startAttack({ url: service.url, accounts, video, seed: Number(values.seed) });
    const samples = sampleUsage(service);
    const until = performance.now() + Number(values.minutes) * 60_000;
    const under = await honest.work(HONEST_JOB_EVERY_MS, until, samples.ended);
    const attacked = await attack.stop();
    const usage = samples.stop();
    if (service.hasEnded) throw new Error(`the service ended during the siege; its log is in ${folder}`);
    printAttack(attacked);
    printHonest(before, under);
    // Otherwise each canceled job would free a place for the next attack.
    await service.admin(['queue', 'pause']);
    for (let i = 0; i < ATTACKERS; i += 1) {
      await service.admin(['account', 'disable', `attacker-${i}@example.org`, '--cancel-jobs']);
    }
    await service.admin(['queue', 'resume']);
    const heldAfter = await settledHoldings(service, held);
    const { problems } = await service.admin<{ problems: unknown[] }>(['credits', 'audit']);
    printHoldings({ held, heldAfter, usage, problems: problems.length });
  } finally {
    honest.close();
    await service.stop();
  }
  await rm(folder, { recursive: true, force: true });
}

async function newAccount(service: BesiegedService, email: string): Promise<string> {
  await service.admin(['account', 'create', email]);
  await service.admin(['credits', 'grant', '--account', email, '--paid', String(CREDITS)]);
  const { key } = await service.admin<{ key: string }>([
    'key',
    'create',
    '--account',
    email,
    '--name',
    'Siege',
  ]);
  return key;
}

async function someVideo(service: BesiegedService): Promise<string> {
  const jobs = await service.admin<{ jobId: string }[]>([
    'job',
    'list',
    '--status',
    'completed',
    '--limit',
    '1',
  ]);
  return `${service.url}/artifacts/${jobs[0]?.jobId}/video.mp4`;
}

function startAttack(orders: AttackOrders): { stop: () => Promise<AttackReport> } {
  const program = join(import.meta.dirname, 'siege/attackers.ts');
  const child = spawn(process.execPath, [program, JSON.stringify(orders)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  // Represents other machines, so it gets low CPU priority; with autogroup scheduling that applies to its session.
  if (existsSync('/proc/self/autogroup')) writeFileSync(`/proc/${child.pid}/autogroup`, '19');
  process.once('exit', () => child.kill());
  const said = text(child.stdout);
  return {
    stop: async () => {
      child.stdin.end();
      return JSON.parse(await said) as AttackReport;
    },
  };
}

interface Usage {
  firstBytes: number;
  mostBytes: number;
  lastBytes: number;
  leastFreeBytes: number;
}

function sampleUsage(service: BesiegedService): { ended: AbortSignal; stop: () => Usage } {
  const ended = new AbortController();
  const sizes: number[] = [service.memoryBytes()];
  const free: number[] = [freemem()];
  const timer = setInterval(() => {
    if (service.hasEnded) return ended.abort();
    sizes.push(service.memoryBytes());
    free.push(freemem());
  }, SAMPLE_MS);
  return {
    ended: ended.signal,
    stop: () => {
      clearInterval(timer);
      const [firstBytes = 0, lastBytes = 0] = [sizes[0], sizes.at(-1)];
      return { firstBytes, lastBytes, mostBytes: Math.max(...sizes), leastFreeBytes: Math.min(...free) };
    },
  };
}

/** Its held resources, when they no longer change or equal those before. */
async function settledHoldings(service: BesiegedService, expected?: Holdings): Promise<Holdings> {
  const deadline = performance.now() + SETTLE_MS;
  for (let last = service.holdings(); ; ) {
    await delay(SAMPLE_MS);
    const now = service.holdings();
    const wanted = expected ?? last;
    if (JSON.stringify(now) === JSON.stringify(wanted) || performance.now() > deadline) return now;
    last = now;
  }
}

function printAttack(attacked: AttackReport): void {
  for (const [attack, answers] of Object.entries(attacked)) {
    const list = Object.entries(answers).map(([answer, count]) => `${answer} × ${count}`);
    console.log(`  ${attack.padEnd(24)}${list.join(', ')}`);
  }
}

function printHonest(before: HonestRecord, under: HonestRecord): void {
  console.log(`\n${row('honest account', 'before', 'siege', 'ratio')}`);
  const compared = (name: string, of: (record: HonestRecord) => number) =>
    console.log(row(name, seconds(of(before)), seconds(of(under)), (of(under) / of(before)).toFixed(2)));
  compared('wait, median', ({ waitsMs }) => quantile(waitsMs, 0.5));
  compared('wait, 95 %', ({ waitsMs }) => quantile(waitsMs, 0.95));
  compared('wait, longest', ({ waitsMs }) => quantile(waitsMs, 1));
  compared('rendering, longest', ({ rendersMs }) => quantile(rendersMs, 1));
  compared('rest, longest', ({ waitsMs, rendersMs }) =>
    Math.max(...waitsMs.map((waitMs, index) => waitMs - (rendersMs[index] ?? 0))),
  );
  compared('GET /me, 95 %', ({ readsMs }) => quantile(readsMs, 0.95));
  compared('webhook, longest', ({ webhooksMs }) => quantile(webhooksMs, 1));
  console.log(row('jobs completed', String(before.waitsMs.length), String(under.waitsMs.length)));
  console.log(row('videos downloaded', String(before.downloads), String(under.downloads)));
  console.log(row('problems', String(before.problems.length), String(under.problems.length)));
  for (const problem of under.problems.slice(0, 10)) console.log(`    ${problem}`);
}

function printHoldings(outcome: {
  held: Holdings;
  heldAfter: Holdings;
  usage: Usage;
  problems: number;
}): void {
  const { held, heldAfter, usage, problems } = outcome;
  console.log(`\n${row('the service holds', 'before', 'after')}`);
  for (const name of Object.keys(held) as (keyof Holdings)[]) {
    console.log(row(name, String(held[name]), String(heldAfter[name])));
  }
  console.log(row('problems of the books', '', String(problems)));
  console.log(row('memory', mib(usage.firstBytes), mib(usage.lastBytes), `at most ${mib(usage.mostBytes)}`));
  console.log(row('least free memory', '', mib(usage.leastFreeBytes)));
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;
const mib = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;

function row(name: string, ...cells: string[]): string {
  return [name.padEnd(24), ...cells.map((cell) => ` ${cell}`.padStart(13))].join('');
}
