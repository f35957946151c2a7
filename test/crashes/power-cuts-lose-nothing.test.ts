/**
 * Records the system calls by which the database and the documents, or a whole service, change a disk, and simulates a
 * power cut at `POWER_CUTS` moments (default 250): any part of what was not flushed by then is lost. A start on each
 * resulting state must find everything that was acknowledged, complete and once.
 *
 * `SEED` repeats the random choices, but the timing of the programs differs. A failure therefore keeps the recording;
 * `RECORDING`, `SEED` and `STATE` repeat one state of it.
 */
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { TestAuthority } from '../fixtures/certificates.ts';
import { isDeep, isRelease, times } from '../fixtures/depth.ts';
import type { DiskEvent } from '../fixtures/power-cuts/medium.ts';
import {
  afterCut,
  layOut,
  mediumAfter,
  namesOf,
  type Program,
  type Recording,
  record,
  restoreIn,
  save,
  withoutFlushes,
} from '../fixtures/power-cuts/recording.ts';
import type { ServiceLife } from '../fixtures/power-cuts/service-program.ts';
import { type BrokenState, brokenStates } from '../fixtures/power-cuts/states.ts';
import type { Said } from '../fixtures/power-cuts/told.ts';
import type { Life } from '../fixtures/power-cuts/working-program.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { testFolder } from '../fixtures/test-folder.ts';

const CUTS = times('POWER_CUTS', { quick: 16, deep: 18 });
const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const { RECORDING, STATE } = process.env;
/** The number of power cuts in one recording; more cuts need more recordings. */
const CUTS_IN_ONE = 200;
const IN_QUICK_RUNS = ['a program that was killed', 'a program started after a power cut'];
/** The same for histories in which each recording has another fault. */
const CUTS_OF_A_FAULT = 16;
/** The number of power cuts of a faulty program after which it is looked whether the fault was found, and the most. */
const CUTS_OF_FAULTY = 10;
const MOST_CUTS_OF_FAULTY = 200;
const KEPT = join(import.meta.dirname, '../../.setup');

const EXIT_IO_ERROR = 74;
const NO_DOCUMENTS: [number, number] = [0, 0];
const MIN_ACKNOWLEDGED = 50;
const MAX_TRIES = 8;

type DataLife = Omit<Life, 'folder'>;

const firstLife = (seed: number): DataLife => ({
  seed,
  month: 1,
  jobs: [1, 24],
  documents: [1, 24],
  end: 'kill',
});
const failingLife = (seed: number): DataLife => ({
  ...firstLife(seed),
  documents: NO_DOCUMENTS,
  end: 'stop',
});
const lastLife = (seed: number): DataLife => ({
  seed: seed + 1,
  month: 3,
  jobs: [101, 120],
  documents: [101, 116],
  end: 'stop',
});

const firstService = (folder: string, seed: number): Omit<ServiceLife, 'folder'> => {
  const authority = new TestAuthority(dirname(folder));
  return {
    seed,
    artifactFolder: seed % 2 === 0 ? null : 'videos/of the service',
    certificate: authority.issue(['127.0.0.1']),
    caFile: authority.caFile,
    jobs: [1, 31],
    end: 'kill',
  };
};

const isFailure = ({ kind }: DiskEvent) => kind === 'failed flush' || kind === 'failed flush names';

/** The names of the files whose flush failed in a recording; `folder` is the folder itself. */
function failedIn(recording: Recording): string[] {
  const names = namesOf(recording);
  return recording.events
    .filter(isFailure)
    .map((event) => (event.kind === 'failed flush' ? (names[event.file] as string) : 'folder'));
}

/** By name: runs programs on a folder and returns the recording of all runs. */
const HISTORIES: Record<string, (folder: string, seed: number, t: Test) => Promise<Recording>> = {
  async 'a program that was killed'(folder, seed) {
    const { recording } = await record({ program: 'data', folder, life: firstLife(seed) });
    return (await record({ program: 'data', folder, life: lastLife(seed), before: recording })).recording;
  },

  async 'a program started after a power cut'(folder, seed) {
    const random = seededRandom(seed);
    const first = await record({ program: 'data', folder, life: firstLife(seed) });
    const before = afterCut(first.recording, Math.floor(random() * first.recording.events.length), random);
    const cut = `${folder}-cut`;
    await layOut(cut, before.before);
    return (await record({ program: 'data', folder: cut, life: lastLife(seed), before })).recording;
  },

  async 'a program started after a failed flush of the log'(folder, seed, t) {
    const when = 2 + Math.floor(seededRandom(seed)() * 12);
    const fails = { call: 'fdatasync', when } as const;
    const { recording, exitCode } = await record({ program: 'data', folder, life: failingLife(seed), fails });
    t.equal(exitCode, EXIT_IO_ERROR, 'the program exits when the flush fails');
    return (await record({ program: 'data', folder, life: lastLife(seed), before: recording })).recording;
  },

  async 'a program started after a failed flush of a checkpoint'(folder, seed, t) {
    const before = await record({ program: 'data', folder, life: { ...failingLife(seed), jobs: [1, 6] } });
    const disk = mediumAfter(before.recording);
    const database = disk.names.get('database.sqlite');
    // How often each thread flushes before is random, so this repeats until the flush of the database fails.
    for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
      const copy = `${folder}-${attempt}`;
      await layOut(copy, disk.seen());
      const life = { ...failingLife(seed + attempt), month: 2, jobs: [10, 50] as [number, number] };
      const fails = { call: 'fsync', when: 3 + (attempt % 2) } as const;
      const { recording, exitCode } = await record({
        program: 'data',
        folder: copy,
        life,
        before: before.recording,
        fails,
      });
      if (!recording.events.some((event) => event.kind === 'failed flush' && event.file === database))
        continue;
      t.equal(exitCode, EXIT_IO_ERROR, 'the program exits when the flush fails');
      return (await record({ program: 'data', folder: copy, life: lastLife(seed), before: recording }))
        .recording;
    }
    throw new Error(`no flush of a checkpoint failed in ${MAX_TRIES} runs`);
  },

  // Any thread may fail: they flush the log, the database, the folder and the documents.
  async 'a program started after any failed flush'(folder, seed, t) {
    const random = seededRandom(seed);
    const call = random() < 0.5 ? 'fsync' : 'fdatasync';
    const fails = { call, when: 1 + Math.floor(random() * 14) } as const;
    const life = { ...firstLife(seed), end: 'stop' } as const;
    const { recording, exitCode } = await record({ program: 'data', folder, life, fails });
    const failed = failedIn(recording);
    const refused = recording.events.flatMap((event) => {
      const said = event.kind === 'said' ? (JSON.parse(event.line) as Said) : undefined;
      return said && 'failed' in said ? [said.failed.trying] : [];
    });
    t.comment(`${call} ${fails.when} of ${failed.join(', ') || 'nothing'}: exit code ${exitCode}`);
    if (failed.includes('database.sqlite-wal') && call === 'fdatasync')
      if (fails.when === 1) t.equal(exitCode, 1, 'the start fails: it flushes the log first');
      else t.equal(exitCode, EXIT_IO_ERROR, 'the program exits when the flush of its log fails');
    else if (failed.length > 0 && failed.every((name) => name.endsWith('.json.new'))) {
      t.equal(exitCode, 0);
      t.ok(refused.length > 0, 'the change is rejected');
    }
    t.ok(
      refused.every((trying) => trying === 'document'),
      'only changes of documents are rejected',
    );
    return (await record({ program: 'data', folder, life: lastLife(seed), before: recording })).recording;
  },

  async 'a service that was killed or lost its power'(folder, seed) {
    const random = seededRandom(seed);
    const life = firstService(folder, seed);
    const { recording } = await record({ program: 'service', folder, life });
    const isCut = random() < 0.7;
    const count = Math.floor(random() * recording.events.length);
    const before = isCut ? afterCut(recording, count, random) : recording;
    await restoreIn(folder, mediumAfter(before).seen());
    const next: typeof life = { ...life, seed: seed + 1, jobs: [31, 51], end: 'stop' };
    return (await record({ program: 'service', folder, life: next, before })).recording;
  },
};

/** Faulty programs: the files and folders that they never flush, and the problem that this must cause. */
const FAULTS: { program: Program; unflushed: string; files: RegExp; loss: RegExp }[] = [
  {
    program: 'data',
    unflushed: 'log',
    files: /^database\.sqlite-wal$/,
    // A job or a delivery is lost, or the last change of one. In other states the loss is reported as damage.
    loss: /^(job|the delivery) \S+ is (lost|\{)/,
  },
  {
    program: 'data',
    unflushed: 'documents',
    files: /\.json\.new$/,
    loss: / is none of its versions /,
  },
  {
    program: 'service',
    unflushed: 'artifacts',
    files: /\.mp4\.new$/,
    loss: /^video.mp4 of job \d+ is \d+ bytes.*, not /,
  },
  {
    program: 'service',
    unflushed: 'folders of artifacts',
    files: /^(data\/artifacts|videos)(\/|$)/,
    loss: /^video.mp4 of job \d+ is lost/,
  },
];

async function freshFolder(t: Test): Promise<string> {
  const folder = join(testFolder(t, {}), 'data');
  await mkdir(folder);
  return folder;
}

function isDone(line: string): boolean {
  return 'done' in (JSON.parse(line) as Said);
}

async function keep(
  recording: Recording,
  { broken }: { broken: BrokenState[] },
  seed: number,
): Promise<string> {
  const [first] = broken;
  if (!first) return 'nothing is lost';
  await mkdir(KEPT, { recursive: true });
  const path = join(KEPT, `power-cut-${seed}.recording`);
  await save(recording, path);
  return `RECORDING=${path} SEED=${seed} STATE=${first.state} repeats the first of ${broken.length} states`;
}

if (RECORDING && STATE) {
  t.test(`state ${STATE} of ${RECORDING}`, async (t) => {
    const { broken } = await brokenStates(RECORDING, { seed: SEED, first: Number(STATE), count: 1 });
    t.same(broken, []);
  });
} else {
  // Recording a history takes longer than some cuts.
  const histories = Object.entries(HISTORIES).filter(([name]) => isDeep || IN_QUICK_RUNS.includes(name));
  const each = Math.ceil(CUTS / histories.length);
  for (const [name, history] of histories) {
    t.test(`${each} power cuts lose no acknowledged data of ${name} (SEED=${SEED})`, async (t) => {
      const cutsInOne = name.includes('any failed flush') ? CUTS_OF_A_FAULT : CUTS_IN_ONE;
      for (let round = 0; round * cutsInOne < each; round++) {
        const seed = SEED + round;
        const recording = await history(await freshFolder(t), seed, t);
        const count = Math.min(cutsInOne, each - round * cutsInOne);
        const states = await brokenStates(recording, { seed, count });
        const acknowledged = recording.events.filter((event) => event.kind === 'said' && isDone(event.line));
        t.ok(acknowledged.length >= MIN_ACKNOWLEDGED, `${acknowledged.length} were acknowledged`);
        t.equal(states.inspected, count);
        t.same(states.broken.slice(0, 3), [], await keep(recording, states, seed));
        if (states.broken.length > 0) return;
      }
    });
  }

  for (const [program, faults] of isRelease ? Map.groupBy(FAULTS, ({ program }) => program) : []) {
    t.test(`this test detects what a faulty ${program} program loses`, async (t) => {
      const folder = await freshFolder(t);
      const life = program === 'data' ? firstLife(SEED) : firstService(folder, SEED);
      const { recording } = await record({ program, folder, life });
      for (const { unflushed, files, loss } of faults) {
        const faulty = withoutFlushes(recording, files);
        let isDetected = false;
        for (let first = 0; !isDetected && first < MOST_CUTS_OF_FAULTY; first += CUTS_OF_FAULTY) {
          const { broken } = await brokenStates(faulty, { seed: SEED, first, count: CUTS_OF_FAULTY });
          isDetected = broken.some(({ problems }) => problems.some((problem) => loss.test(problem)));
        }
        t.ok(isDetected, `one that never flushes its ${unflushed}`);
      }
    });
  }
}
