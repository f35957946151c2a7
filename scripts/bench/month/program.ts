// A month in its own namespaces: `program.ts OPTIONS`, which are {@link MonthOptions} as JSON.

import { execFileSync } from 'node:child_process';
import { chownSync, copyFileSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connectAdministration, type RemoteAdministration } from '../../../appliance/admin/admin-socket.ts';
import type { EndedJob } from '../../../lib/client/index.ts';
import { TestAuthority } from '../../../test/fixtures/certificates.ts';
import { freePort } from '../../../test/fixtures/free-port.ts';
import { scene } from '../../../test/fixtures/scene.ts';
import { Customer } from './customer.ts';
import { eventsOfAMonth, type Month, type MonthEvent, type Outcome } from './events.ts';
import { prepareGround, ROOT } from './ground.ts';
import { Unit } from './unit.ts';

/** Options of a month. */
export interface MonthOptions {
  folder: string;
  short: boolean;
  /** Names of events, or parts of them; empty for all. */
  only: string[];
  list: boolean;
  /** The single executable, instead of the checkout. */
  packed: string | null;
  /** Whether the service runs as another user than root. */
  user: boolean;
  json: boolean;
}

/** What became of an event. */
export interface EventReport {
  event: string;
  expected: string;
  outcome: Outcome | 'not run';
  /** From the event, or its end if it lasts, until the next job was completed. */
  seconds: number | null;
  note: string;
  /** What the service complained of, if the event was `lost`. */
  log: string[];
}

/** The sums of a month. */
export interface MonthReport {
  posted: number;
  completed: number;
  failed: number;
  lost: number;
  creditsExact: boolean;
  /** Why they are not exact. */
  creditsNote: string;
  deliveredOnce: number;
  deliveredAgain: number;
  notDelivered: number;
  unexpectedEnds: number;
}

const ACCOUNT = 'customer@example.org';
const CREDITS = 1_000_000;
const USER = 12_345;
const MOST_MS = 120_000;
const MOST_RESTS_MS = 60_000;
const UNTIL_DRAWING_MS = 400;
const DELIVERED_MS = 45_000;
const LOW_CREDITS_PER_SECOND = 1;
const NOT_HERE = [
  'cgroup v2 and systemd: npm run test:cgroups has virtual machines with both',
  'a container: the month needs the files of the machine; appliance/container/ has its own tests',
];

let scenes = 0;
const options = JSON.parse(process.argv[2] ?? '') as MonthOptions;
const { short, only } = options;
const events = eventsOfAMonth().filter(
  ({ name, isShort }) =>
    (!short || isShort) && (only.length === 0 || only.some((part) => name.includes(part))),
);
if (options.list) for (const { name } of events) console.log(name);
else await happen();
process.exit();

async function happen(): Promise<void> {
  const month = await prepareMonth();
  const { unit } = month;
  const authority = new TestAuthority(month.ground.own);
  const customer = await openCustomer(month, authority);
  const before = await customer.credits();
  const reports: EventReport[] = [];
  say(row('event', 'expected', 'outcome', 'next job', ''));
  for (const event of events) {
    const report = await pass(event, month, customer);
    reports.push(report);
    if (options.json) console.log(JSON.stringify(report));
    const next = report.seconds === null ? '' : `${report.seconds.toFixed(1)} s`;
    say(row(report.event, report.expected, report.outcome, next, report.note));
    for (const line of report.log) say(`    ${line}`);
  }
  const sums = await settle(month, customer, before);
  if (options.json) console.log(JSON.stringify(sums));
  else print(sums);
  const isLost = reports.some(({ outcome }) => outcome === 'lost');
  if (isLost || sums.lost > 0 || sums.failed > 0 || !sums.creditsExact) process.exitCode = 1;
  customer.close();
  await unit.stop();
}

async function prepareMonth(): Promise<Month> {
  const ground = prepareGround(options.folder);
  const data = join(ground.disk, 'data');
  const isPacked = options.packed !== null;
  const clock = clockIn(ground.own);
  mkdirSync(data);
  if (options.user) for (const path of [data, ground.disk]) chownSync(path, USER, USER);
  const as = options.user ? ['setpriv', `--reuid=${USER}`, `--regid=${USER}`, '--clear-groups'] : [];
  let program = [process.execPath, join(ROOT, 'appliance/main.ts')];
  if (options.packed !== null) {
    program = [join(ground.own, 'scenepress')]; // A copy, which an upgrade replaces.
    copyFileSync(options.packed, program[0] as string);
  }
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: join(ground.own, 'home'),
    TMPDIR: join(ground.own, 'tmp'),
    ...(isPacked && { SCENEPRESS_RENDERER_DIR: join(ground.own, 'home', 'renderer') }),
  };
  const command = [...as, ...program];
  const flags = [
    ...['--data-dir', data, '--workers', '2', '--free-credits', '0'],
    ...['--webhooks-allow-networks', '127.0.0.0/8', '--webhooks-ca', join(ground.own, 'ca.pem')],
  ];
  const shifted = clock && { LD_PRELOAD: clock.library, MONTH_CLOCK: clock.file };
  const unit = new Unit({
    command: [...command, 'serve', ...flags],
    env: { ...env, ...shifted },
    folder: ground.own,
    port: await freePort(),
  });
  return {
    ...{ ground, data, unit, command, env, isPacked },
    clock: clock?.file ?? null,
    isRoot: !options.user,
  };
}

async function openCustomer({ unit, data }: Month, authority: TestAuthority): Promise<Customer> {
  unit.start();
  await unit.ready();
  const administration = await administrationOf(data);
  await administration.accounts.create({ email: ACCOUNT });
  await administration.credits.grant({ account: ACCOUNT, paid: CREDITS });
  const { key } = await administration.keys.create({ account: ACCOUNT, name: 'Month' });
  return Customer.open(unit.url, key, authority.issue(['127.0.0.1']));
}

/** One event, with a job that is being rendered and one that is posted meanwhile. */
async function pass(event: MonthEvent, month: Month, customer: Customer): Promise<EventReport> {
  const { name, expected } = event;
  const skipped = event.skipped?.(month);
  if (skipped) return { event: name, expected, outcome: 'not run', seconds: null, note: skipped, log: [] };
  const { unit } = month;
  const signal = AbortSignal.timeout(MOST_MS);
  const [repeats, ends] = [customer.repeats, unit.unexpectedEnds];
  const jobs: EndedJob[] = [];
  let completedMs = Number.POSITIVE_INFINITY;
  let begunMs = Number.POSITIVE_INFINITY;
  const notes: string[] = [];
  let isLost = false;
  let lasts = false;
  const offset = statSync(unit.log).size;
  const posted: string[] = [];
  const toTheEnd = async (jobId: string) => {
    posted.push(jobId);
    const job = await customer.ended(jobId, signal);
    jobs.push(job);
    if (job.status === 'completed') completedMs = Math.min(completedMs, performance.now());
    if (job.status === 'failed') notes.push(job.error);
  };
  try {
    await event.prepare?.(month);
    const running = await customer.post(longScene(), signal);
    await customer.has(running, ['running', 'completed', 'failed'], signal);
    await delay(UNTIL_DRAWING_MS);
    begunMs = performance.now();
    const all = [toTheEnd(running), customer.post(shortScene(), signal).then(toTheEnd)];
    const ended = Promise.all(all);
    ended.catch(() => {}); // Awaited below.
    lasts = event.end !== undefined;
    await event.begin(month);
    if (event.end) {
      await delay(event.lastsMs ?? 0);
      begunMs = performance.now();
      completedMs = Number.POSITIVE_INFINITY;
      lasts = false;
      await event.end(month);
    }
    await ended;
    await unit.ready();
    if (completedMs === Number.POSITIVE_INFINITY || completedMs < begunMs)
      await toTheEnd(await customer.post(shortScene(), signal));
  } catch (error) {
    isLost = true;
    notes.push(`${error}`);
    for (const jobId of posted) if (!customer.jobs.get(jobId)) notes.push(`${jobId} did not end`);
    if (lasts) await Promise.resolve(event.end?.(month)).catch((error) => notes.push(`${error}`));
  }
  const attempts = await mostAttempts(month, jobs);
  const billedMs = Math.max(0, ...jobs.map(({ durationMs }) => durationMs ?? 0));
  const repeated = customer.repeats - repeats;
  const ended = unit.unexpectedEnds - ends;
  if (repeated > 0) notes.push(`POST repeated ${repeated} times`);
  if (attempts > 1) notes.push(`${attempts} attempts`);
  if (ended > 0) notes.push(`the service ended ${ended} times`);
  if (billedMs > (event.mostBilledMs ?? Number.POSITIVE_INFINITY)) {
    isLost = true;
    notes.push(`${billedMs} ms billed`);
  }
  if (jobs.some(({ status }) => status === 'failed')) isLost = true;
  const isDegraded = repeated > 0 || attempts > 1 || ended > 0;
  return {
    ...{ event: name, expected },
    outcome: isLost ? 'lost' : isDegraded ? 'degraded' : 'held',
    seconds: Number.isFinite(completedMs) ? (completedMs - begunMs) / 1_000 : null,
    note: notes.join('; '),
    log: isLost ? unit.complaints(offset) : [],
  };
}

/** Waits for what has not ended, and adds up. */
async function settle({ unit, data }: Month, customer: Customer, before: number): Promise<MonthReport> {
  await unit.ready();
  const signal = AbortSignal.timeout(MOST_RESTS_MS);
  for (const [jobId, job] of customer.jobs) if (!job) await customer.ended(jobId, signal).catch(() => {});
  const deadline = performance.now() + DELIVERED_MS;
  const ended = [...customer.jobs.values()].filter((job) => job !== undefined);
  const undelivered = () => ended.filter(({ jobId }) => !customer.deliveries.has(jobId)).length;
  while (undelivered() > 0 && performance.now() < deadline) await delay(100);
  const deliveries = [...customer.deliveries.values()];
  const creditsNote = await creditsOf(data, customer, { before, ended });
  return {
    posted: customer.jobs.size,
    completed: ended.filter(({ status }) => status === 'completed').length,
    failed: ended.filter(({ status }) => status === 'failed').length,
    lost: customer.jobs.size - ended.length,
    creditsExact: creditsNote === '',
    creditsNote,
    deliveredOnce: deliveries.filter((count) => count === 1).length,
    deliveredAgain: deliveries.filter((count) => count > 1).length,
    notDelivered: undelivered(),
    unexpectedEnds: unit.unexpectedEnds,
  };
}

/** What is wrong with the credits; empty if nothing is. */
async function creditsOf(
  data: string,
  customer: Customer,
  { before, ended }: { before: number; ended: EndedJob[] },
): Promise<string> {
  const notes: string[] = [];
  let charged = 0;
  for (const { jobId, status, durationMs, creditsCost } of ended) {
    charged += creditsCost;
    const seconds = (durationMs ?? 0) / 1_000;
    const price = status === 'failed' ? 0 : Math.max(1, Math.ceil(seconds * LOW_CREDITS_PER_SECOND));
    if (creditsCost !== price) notes.push(`${jobId} cost ${creditsCost} instead of ${price}`);
  }
  const after = await customer.credits();
  if (before - after !== charged) notes.push(`${before - after} credits were taken for ${charged}`);
  const { problems } = await (await administrationOf(data)).credits.audit();
  if (problems.length > 0) notes.push(`${problems.length} problems of the books`);
  return notes.join('; ');
}

async function mostAttempts({ data }: Month, jobs: EndedJob[]): Promise<number> {
  const administration = await connectAdministration(data).catch(() => undefined);
  const shown = jobs.map(async ({ jobId }) => (await administration?.jobs.show({ jobId }))?.attempts ?? 0);
  return Math.max(0, ...(await Promise.all(shown).catch(() => [0])));
}

async function administrationOf(data: string): Promise<RemoteAdministration> {
  const administration = await connectAdministration(data);
  if (!administration) throw new Error('the service does not listen for commands');
  return administration;
}

/** A scene that sets text and a formula some time after its first frame, so that it meets what has changed. */
function longScene(): string {
  return scene('self.wait(0.1)', 'time.sleep(1.5)', ...texts(), 'self.wait(0.1)');
}

function shortScene(): string {
  return scene(...texts(), 'self.wait(0.1)');
}

/** Different in each scene, because formulas are kept. */
function texts(): string[] {
  scenes += 1;
  return [`self.add(Text("Job ${scenes}"), MathTex(r"x^{${scenes}}").shift(DOWN))`];
}

/** A library that shifts the clock of the process that it is preloaded into; null without a compiler. */
function clockIn(folder: string): { library: string; file: string } | null {
  const [library, file] = [join(folder, 'clock.so'), join(folder, 'clock')];
  const source = join(import.meta.dirname, 'clock.c');
  try {
    execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, source], { stdio: 'ignore' });
  } catch {
    return null;
  }
  writeFileSync(file, Buffer.alloc(8));
  return existsSync(library) ? { library, file } : null;
}

function say(line: string): void {
  if (!options.json) console.log(line);
}

function print(sums: MonthReport): void {
  const { posted, completed, failed, lost, creditsExact, creditsNote } = sums;
  const { deliveredOnce, deliveredAgain, notDelivered, unexpectedEnds } = sums;
  console.log(`\njobs      ${posted} posted, ${completed} completed, ${failed} failed, ${lost} lost`);
  console.log(`credits   ${creditsExact ? 'exact' : creditsNote}`);
  console.log(`webhooks  ${deliveredOnce} delivered once, ${deliveredAgain} again, ${notDelivered} not yet`);
  console.log(`service   ended ${unexpectedEnds} times by itself`);
  for (const what of NOT_HERE) console.log(`not run   ${what}`);
  if (options.packed === null) console.log('not run   the single file: --packed FILE');
}

function row(event: string, expected: string, outcome: string, next: string, note: string): string {
  return `${event.padEnd(36)}${expected.padEnd(10)}${outcome.padEnd(10)}${next.padStart(8)}  ${note}`.trimEnd();
}
