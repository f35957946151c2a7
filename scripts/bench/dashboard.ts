import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { library } from '../../appliance/dashboard/language/en/library.ts';
import { routesOf } from '../../appliance/dashboard/routes.ts';
import { Accounts, ApiKeys, DataFolder, RenderService } from '../../lib/index.ts';
import { compiled } from './compiled.ts';
import { PASSWORD, Person } from './person.ts';
import type { Cpu, Question } from './service-server.ts';
import { fill, renderRequest } from './stored-jobs.ts';

const MEMBER = 'member@example.org';
const ADMIN = 'admin@example.org';
/** Failures of today, which the overview groups. */
const FAILURES = 300;
const AT_ONCE = 50;
const SCENES = 300;
const SHARES = 300;
/** Of one scene. */
const DRAFTS = 50;
/** Of one share. */
const VIDEOS = 100;
/** At most 100 of one account are allowed. */
const STREAMS_OF_ACCOUNT = 100;
/** A stream, and pictures that are kept for minutes. */
const UNMEASURED = ['/live', '/pictures/{snapshotId}/{name}'];
/** For pages and for the processor, in milliseconds and in percent. */
const MOST = { page: 50, idle: 10 };

interface Ids {
  jobId: string;
  deliveryId: string;
  keyId: string;
  userId: string;
  fileId: string;
  /** With drafts and versions. */
  sceneId: string;
  /** With many videos. */
  shareId: string;
  /** The last ones of a page far down. */
  deepJob: string;
  deepDelivery: string;
}

/**
 * Measures the time of every page of the dashboard with many stored jobs and accounts, for an administrator and for the
 * member who owns the jobs, and the CPU time of open dashboards while nothing happens. The only renderer never starts.
 */
export async function bench(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      jobs: { type: 'string', default: '100000' },
      accounts: { type: 'string', default: '1000' },
      runs: { type: 'string', default: '21' },
      dashboards: { type: 'string', default: '200' },
      seconds: { type: 'string', default: '55' },
      data: { type: 'string' },
    },
  });
  const folder = values.data ?? (await mkdtemp(join(tmpdir(), 'scenepress-bench-')));
  try {
    const ids = await prepare(join(folder, 'data'), Number(values.jobs), Number(values.accounts));
    const program = compiled('service-server.ts');
    const child = fork(program, ['appliance', join(folder, 'data'), ids.userId], {
      execArgv: ['--expose-gc'],
    });
    try {
      const [{ port }] = (await once(child, 'message')) as [{ port: number }];
      const people = [await Person.signIn(port, ADMIN), await Person.signIn(port, MEMBER)];
      console.log(`${values.jobs} jobs, ${values.accounts} accounts; times of ${values.runs} runs\n`);
      const cpu = async () => {
        child.send('cpu' satisfies Question);
        return ((await once(child, 'message')) as [Cpu])[0];
      };
      await measurePages(people, ids, Number(values.runs), cpu);
      await measureIdle(people, Number(values.dashboards), Number(values.seconds), cpu);
    } finally {
      child.disconnect();
      await once(child, 'exit');
    }
  } finally {
    if (values.data === undefined) await rm(folder, { recursive: true, force: true });
  }
}

async function prepare(path: string, jobs: number, accountCount: number): Promise<Ids> {
  const { owner, jobIds } = await fill(path, jobs);
  const folder = new DataFolder(path);
  const service = new RenderService({
    dataFolder: folder,
    webhooks: { secretOf: async () => null },
    queue: { maxQueued: 1e9, maxQueuedPerOwner: 1e9 },
  });
  await service.startWithoutWorkers();
  const accounts = new Accounts({ store: folder.accountStore });
  const keys = new ApiKeys({ store: folder.keyStore, masterKeys: await folder.masterKeys() });
  await accounts.setPassword(owner, { password: PASSWORD, email: MEMBER });
  const { accountId } = await accounts.create(ADMIN);
  await accounts.setPassword(accountId, { password: PASSWORD, role: 'admin' });
  await inTurns(accountCount - 2, async (number) => {
    const added = await accounts.create(`person-${number}@example.org`);
    await keys.mint({ accountId: added.accountId, name: 'Lecture site' });
  });
  await inTurns(FAILURES, async () => {
    const { jobId } = await service.enqueue({ owner, ...renderRequest() });
    await service.cancel(jobId);
  });
  const sceneId = await addScenes(service, owner);
  const shareId = await addShares(service, owner, jobIds);
  const content = Readable.from([Buffer.from('a,b\n1,2\n')]);
  const { fileId } = await service.files.put({ owner, name: 'table.csv', content });
  const [key] = await keys.list({ limit: 1 });
  const deliveries = await service.deliveries.list({ owner, limit: 1000 });
  await service.stop();
  return {
    userId: owner,
    ...{ fileId, sceneId, shareId },
    jobId: jobIds.at(-1) ?? '',
    deliveryId: deliveries[0]?.deliveryId ?? '',
    keyId: key?.keyId ?? '',
    deepJob: jobIds[Math.floor(jobIds.length / 2)] ?? '',
    deepDelivery: deliveries.at(-1)?.deliveryId ?? '',
  };
}

/** Returns the one with drafts and versions. */
async function addScenes(service: RenderService, owner: string): Promise<string> {
  const { scenes } = service;
  const draft = () => ({ className: 'Hello', code: renderRequest().code });
  await inTurns(SCENES - 1, async (number) => {
    await scenes.create({ owner, name: `Lesson ${number}`, ...draft() });
  });
  const { sceneId } = await scenes.create({ owner, name: 'Intro', ...draft() });
  for (let revision = 1; revision < DRAFTS; revision += 1) {
    await scenes.save(sceneId, { revision, ...draft(), keepsReplaced: true });
    const { job } = await scenes.render(sceneId);
    await service.cancel(job.jobId);
  }
  return sceneId;
}

/** Returns the one with many videos. */
async function addShares({ shares }: RenderService, owner: string, jobIds: string[]): Promise<string> {
  await inTurns(SHARES - 1, async (number) => {
    const jobId = jobIds[number % jobIds.length] ?? '';
    await shares.create({ owner, jobIds: [jobId], title: `Lesson ${number}` });
  });
  return (await shares.create({ owner, jobIds: jobIds.slice(-VIDEOS) })).shareId;
}

async function inTurns(count: number, act: (number: number) => Promise<void>): Promise<void> {
  for (let done = 0; done < count; done += AT_ONCE) {
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, count - done) }, (_, index) => act(done + index)),
    );
  }
}

function isAdmin({ email }: Person): boolean {
  return email === ADMIN;
}

/** Every page of the table of routes, and pages far down in lists. */
function pathsOf(person: Person, ids: Ids): string[] {
  const routes = routesOf({} as Parameters<typeof routesOf>[0]);
  const shown = routes.filter(
    ({ method, path, for: whom }) =>
      method === 'GET' &&
      !UNMEASURED.includes(path) &&
      (whom === 'members' || (whom === 'admins' && isAdmin(person))),
  );
  const paths = shown.map(({ path }) =>
    path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(ids[name as keyof Ids])),
  );
  return [
    ...paths,
    ...['?text=hello', '?text=hello+radius', '?text=nothing', '?starred=yes', '?text=hello&order=oldest'],
    '/scenes?text=lesson',
    `/scenes/${ids.sceneId}/diff?from=v1`,
    `/shares?job=${ids.jobId}`,
    `/jobs?before=${ids.deepJob}`,
    '/jobs?status=failed',
    '/jobs?status=completed',
    `/webhooks?before=${ids.deepDelivery}`,
    ...(isAdmin(person)
      ? [MEMBER].flatMap((email) =>
          ['/jobs', '/keys', '/webhooks', '/credits'].map((path) => `${path}?account=${email}`),
        )
      : // An administrator's search of these jobs would build another index meanwhile.
        [`/shares/${ids.shareId}?find=hello`]),
  ];
}

async function measurePages(
  people: Person[],
  ids: Ids,
  runs: number,
  cpu: () => Promise<Cpu>,
): Promise<void> {
  console.log(row('page', 'as', 'kB', 'CPU ms', 'median ms', 'slowest ms', `at most ${MOST.page}`));
  for (const person of people) {
    await indexed(person);
    for (const path of pathsOf(person, ids)) {
      const times: number[] = [];
      let size = 0;
      let status = 0;
      const before = await cpu();
      for (let run = 0; run < runs; run += 1) {
        const begun = performance.now();
        const answer = await person.get(path);
        times.push(performance.now() - begun);
        size = answer.body.length;
        status = answer.status;
      }
      const cpuMs = ((await cpu()) - before) / runs;
      times.sort((a, b) => a - b);
      const median = times[times.length >> 1] as number;
      const shown = path.replaceAll(/\w{20,}/g, (id) => `${id.slice(0, 4)}…`) || '/';
      const verdict = status >= 500 ? `HTTP ${status}` : median < MOST.page ? '' : 'too slow';
      const cells = [size / 1000, cpuMs, median, times.at(-1) as number].map((cell) => cell.toFixed(1));
      console.log(row(shown, isAdmin(person) ? 'admin' : 'member', ...cells, verdict));
    }
  }
}

/** Waits until all jobs have been read for searches: until then they compete with pages for the processor. */
async function indexed(person: Person): Promise<void> {
  while ((await person.get('?text=nothing')).body.includes(library.stillReading)) await delay(100);
}

async function measureIdle(
  people: Person[],
  count: number,
  seconds: number,
  cpu: () => Promise<Cpu>,
): Promise<void> {
  const share = async () => {
    const [before, begun] = [await cpu(), performance.now()];
    await delay(seconds * 1000);
    return ((await cpu()) - before) / (performance.now() - begun);
  };
  const without = await share();
  const streams: IncomingMessage[] = [];
  for (let opened = 0; opened < count; opened += 1) {
    const person = people[Math.floor(opened / STREAMS_OF_ACCOUNT) % people.length] as Person;
    const response = await person.open('/live');
    if (response.statusCode !== 200) throw new Error(`A stream was answered with ${response.statusCode}.`);
    streams.push(response.resume());
  }
  const withStreams = await share();
  for (const stream of streams) stream.on('error', () => {}).destroy();
  console.log('');
  console.log(row(`CPU, % of a core, ${seconds} s`, '', '', '', '', ''));
  console.log(row('  no open dashboard', '', '', (without * 100).toFixed(2), '', ''));
  const verdict = withStreams * 100 < MOST.idle ? '' : 'too much';
  console.log(row(`  ${count} open dashboards`, '', '', (withStreams * 100).toFixed(2), '', verdict));
}

function row(first: string, ...cells: string[]): string {
  return (first.padEnd(44) + cells.map((cell) => cell.padStart(12)).join('')).trimEnd();
}
