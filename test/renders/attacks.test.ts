// Renders every scene in `attacks` with a service in the real sandbox; a quick run only one for each layer.
// `attacks-in-other-environments.deep.test.ts` runs this file in other environments, with a selection of attacks, and
// `attacks-on-checks-and-pictures.deep.test.ts` runs them in checks, inspections and stills.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { ArtifactName, InspectedSource, Job } from '../../lib/index.ts';
import type { StillResult } from '../../lib/model/owned-pictures.ts';
import { findRoot } from '../../lib/render/environment/renderer-root.ts';
import { isDeep } from '../fixtures/depth.ts';
import { jobsBelow } from '../fixtures/processes.ts';
import { artifactPath, cancelToTheEnd, enqueue, render, startService } from '../fixtures/renders.ts';
import { testFolder } from '../fixtures/test-folder.ts';
import { until } from '../fixtures/until.ts';

const MIB = 1024 * 1024;
const ATTACKS = join(import.meta.dirname, 'attacks');
/** What each attacks: files, network, processes, system calls, limits, the published video and captions, later jobs. */
const ONE_FOR_EACH_LAYER = `read-the-data-folder write-outside-of-the-job-folder connect-to-loopback
  signal-other-processes memory-shared-without-a-file use-keyrings memory-bomb fork-bomb disk-bomb tex-reads-a-file
  garbage-in-the-stream files-with-the-names-of-artifacts write-to-the-encoders-folder forge-a-done-report
  patch-manim-for-later-jobs`.split(/\s+/);
/** Those that may leave something in the renderer or the machine. */
const MAY_LAST =
  /bomb|fork|flood|forge|stream|memory-in|priority|limit|patch|poison|leave|outlive|daemon|signal|write|change|mount|zombies/;
/** After so many others, too, an ordinary job is rendered. */
const OTHERS = 10;
const PROCESSES = 48;
const MAY_COMPLETE = 'completed, or ';
const HARM_MS = 3000;
const END_MS = 8000; // After that the renderer would be replaced, which attacks must not achieve.
/** A check may take 15 s, and other calls as long as a render, with the wait for its memory to be free. */
const LONGEST_CALL_MS = 75_000;
const SECRET = 'the content of a secret file';
const MARKER = 'a line of an earlier job: 5c1f0e';
const VICTIM = `# ${MARKER}
from manim import *
class Main(Scene):
    def construct(self):
        self.play(Create(Square()), run_time=0.2)
`;

t.setTimeout(600_000);
process.env['SCENEPRESS_TEST_SECRET'] = SECRET;
const data = testFolder(t, { 'master.key': SECRET, '.keys': { 'keys.json': SECRET }, '.notes': SECRET });
const files = ['.notes', 'master.key', '.keys/keys.json'].map((name) => join(data, name));
const service = await startService(t, {
  folder: data,
  workers: 1,
  // A unique uid: without namespaces the kernel counts processes per user, not per job.
  renderer: { uid: 100_000 + process.pid },
  limits: {
    timeoutMs: 60_000, // On a busy machine bombs are slow.
    memoryBytes: 700 * MIB,
    processes: PROCESSES,
    diskBytes: 100 * MIB,
    fileSizeBytes: 900 * MIB,
    files: 2000,
    outputBytes: 200 * MIB,
  },
});

let visits = 0;
const port = await listen(t, 0);
const admin = join(data, 'a.sock');
const abstract = `scenepress-test-${process.pid}`;
process.chdir(data); // A socket's path has at most 107 bytes.
await listen(t, 'a.sock');
await listen(t, `\0${abstract}`);

/** Undefined: by rendering. */
const by = process.env['SCENEPRESS_TEST_ATTACKS_BY'];
const level = process.env['SCENEPRESS_TEST_LEVEL'] ?? 'full';
const targets = {
  data,
  files,
  paths: [data, join(import.meta.dirname, '../../renderer'), (await findRoot({})).environment?.prefix],
  port,
  admin,
  abstract,
  processes: PROCESSES,
  service: process.pid,
  variable: 'SCENEPRESS_TEST_SECRET',
  level,
  // Reversed, because the source of the attack is in memory, too.
  marker: [...MARKER].reverse().join(''),
};
const [before, after] = readFileSync(join(ATTACKS, '_prelude.py'), 'utf8').split('TARGETS: dict\n');
const prelude = `${before}TARGETS = ${JSON.stringify(targets)}\n${after}`;

const chosen =
  process.env['SCENEPRESS_TEST_ATTACKS']?.split(' ') ?? (isDeep ? undefined : ONE_FOR_EACH_LAYER);
const names = (
  chosen?.map((name) => `${name}.py`) ?? readdirSync(ATTACKS).filter((name) => /^[a-z].*\.py$/.test(name))
).filter((name) => {
  // Videos are streams on the level `full`, and files on the level `reduced`.
  const only = /Level: (.*)/.exec(readFileSync(join(ATTACKS, name), 'utf8'))?.[1];
  return only === undefined || only === level;
});

const work = join(data, 'work', 'w0');
const zygotes = readdirSync(work); // The zygote's cache, which is hidden from scenes.
const initialStates = states();
let expectedVideo: string;
t.test('the level is as expected, and an ordinary job renders', async (t) => {
  expectedVideo = await victimVideo(t);
  t.ok(names.length >= (chosen ? 1 : 40), `${names.length}`);
  const { level: found, limits } = service.status().sandbox ?? {};
  const byKernel = process.env['SCENEPRESS_TEST_LIMITED_BY'] === 'kernel';
  t.equal(found === 'watched' && !byKernel ? 'full' : found, level);
  t.ok(level === 'reduced' || limits?.disk === 'kernel');
  if (byKernel) t.match(limits, { memory: 'kernel', processes: 'kernel' });
});

for (const [index, name] of names.entries()) {
  const source = readFileSync(join(ATTACKS, name), 'utf8');
  const success = /Success: (.*)/.exec(source)?.[1];
  const outcome = /Outcome: (.*)/.exec(source)?.[1] ?? '';
  t.test(`${name} fails: ${success}`, async (t) => {
    if (by) {
      await assertNothingTold(t, `${prelude}\n${source}`, { isEndless: outcome === 'canceled' });
      await assertUnharmed(t);
      if (MAY_LAST.test(name) || index % OTHERS === OTHERS - 1) await assertRenders(t);
      return;
    }
    const { jobId } = await enqueue(service, { code: `${prelude}\n${source}`, className: 'Attack' });
    if (outcome === 'canceled') await cancelSoon(t, jobId);
    const job = await service.wait(jobId);
    const mayComplete = outcome.startsWith(MAY_COMPLETE);
    if (outcome === 'completed' || (mayComplete && job.status === 'completed'))
      t.match(job, { status: 'completed', error: null });
    else if (outcome === 'canceled') t.match(job, { status: 'failed', error: 'Canceled' });
    else
      t.match(job, {
        status: 'failed',
        error: new RegExp(outcome.replace(MAY_COMPLETE, '').replace('failed: ', '')),
      });
    t.notMatch(job.error ?? '', /^Through/);
    t.equal(job.attempts, 1, 'the renderer was not replaced');
    await assertNothingLeaked(t, job);
    await assertUnharmed(t);
    if (MAY_LAST.test(name) || index % OTHERS === OTHERS - 1) await assertRenders(t);
  });
}
t.test('an ordinary job still renders', assertRenders);

/** Runs an attack by another call of the service. It may fail, or not; what is returned contains no secret. */
async function assertNothingTold(
  t: Test,
  code: string,
  { isEndless }: { isEndless: boolean },
): Promise<void> {
  const signal = isEndless && by !== 'check' ? { signal: AbortSignal.timeout(HARM_MS) } : {};
  const options = { className: 'Attack', quality: 'low', owner: 'somebody', ...signal } as const;
  const calls = {
    check: () => service.check(code, options),
    inspect: () => service.inspect(code, options),
    still: () => service.still(code, options),
  };
  const begun = performance.now();
  const told = await calls[by as keyof typeof calls]().catch((error: Error) => {
    t.match(error, { name: isEndless ? 'TimeoutError' : 'ScenepressError' }, error.message);
    return { message: error.message };
  });
  const texts = JSON.stringify(told, (_, value) => (value instanceof Uint8Array ? undefined : value));
  t.notOk(
    [SECRET, targets.marker, 'root:'].some((secret) => texts.includes(secret)),
    'no secret is told',
  );
  const found = told as Partial<InspectedSource & StillResult>;
  const pictures = [found.still?.png, ...(found.scenes ?? []).flatMap(picturesOf)];
  for (const picture of pictures.map((one) => Buffer.from(one ?? [])))
    t.notOk(picture.includes(SECRET) || picture.includes(targets.marker), 'no secret is in a picture');
  t.ok(performance.now() - begun < LONGEST_CALL_MS, 'it ended in time');
  t.equal(visits, 0, 'no server was reached');
}

function picturesOf({ sheet, pictures }: Partial<InspectedSource['scenes'][number]>): Uint8Array[] {
  return [sheet ?? new Uint8Array(), ...(pictures ?? []).map(({ jpeg }) => jpeg)];
}

/** Cancels a job that does not end by itself, after a delay in which it could do harm. */
async function cancelSoon(t: Test, jobId: string): Promise<void> {
  await delay(HARM_MS);
  const begun = performance.now();
  await cancelToTheEnd(service, jobId);
  t.ok(performance.now() - begun < END_MS, `it ended in ${Math.round(performance.now() - begun)} ms`);
}

async function assertNothingLeaked(t: Test, job: Job): Promise<void> {
  t.notOk(job.error?.includes(SECRET) || job.error?.includes('root:'));
  for (const { name } of job.artifacts) {
    const bytes = readFileSync(await artifactPath(service, job, name as ArtifactName));
    t.notOk(bytes.includes(SECRET) || bytes.includes(targets.marker), `${name} contains no secret`);
  }
  t.equal(visits, 0, 'no server was reached');
}

async function assertUnharmed(t: Test): Promise<void> {
  // A finished render has been killed, but the kernel may still be freeing its memory.
  await until(() => jobsBelow(process.pid).length === 0);
  // A call that is given up rejects at once, and what it has left is removed behind it.
  if (by) await until(() => readdirSync(work).length === zygotes.length);
  t.same(readdirSync(work), zygotes, 'no file is left');
  for (const file of files) t.equal(readFileSync(file, 'utf8'), SECRET);
  t.same(states(), initialStates, 'no mode or time has changed');
  t.match(service.status(), { ready: true, running: 0, queued: 0 });
}

async function assertRenders(t: Test): Promise<void> {
  t.equal(await victimVideo(t), expectedVideo, 'the next job is rendered as before');
}

/** The mode of the data folder and the change times of its files. */
function states(): number[] {
  return [statSync(data).mode, ...files.map((file) => statSync(file).ctimeMs)];
}

/** The hash of the video of an ordinary job. */
async function victimVideo(t: Test): Promise<string> {
  const job = await render(service, { code: VICTIM });
  t.match(job, { status: 'completed', error: null, attempts: 1 });
  return createHash('sha256')
    .update(readFileSync(await artifactPath(service, job, 'video.mp4')))
    .digest('hex');
}

async function listen(t: Test, where: number | string): Promise<number> {
  const server: Server = createServer((socket) => {
    visits += 1;
    socket.destroy();
  });
  t.teardown(() => server.close());
  await new Promise<void>((resolve) => server.listen(where, resolve));
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}
