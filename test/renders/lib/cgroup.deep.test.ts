// Needs a kernel that can limit renders: run it in a unit with Delegate=yes, for example by
// `systemd-run --user --pipe --wait -d -p Delegate=yes node_modules/.bin/node test/renders/lib/cgroup.deep.test.ts`,
// or in a virtual machine by `npm run test:cgroups`.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import t from 'tap';
import { jobsBelow } from '../../fixtures/processes.ts';
import {
  afterOneFrame,
  cancelToTheEnd,
  drawing,
  ENDLESS,
  render,
  scene,
  startService,
} from '../../fixtures/renders.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const TREE = '/sys/fs/cgroup';
const MIB = 1024 * 1024;
const LIMIT = 300 * MIB;
const service = await startService(t, {
  workers: 1,
  limits: { memoryBytes: LIMIT, processes: 40, timeoutMs: 120_000 },
});
const sandbox = service.status().sandbox;
const skip =
  sandbox?.limits.memory === 'kernel' ? false : `no control groups here: ${sandbox?.problems.cgroup}`;

/** The groups of this service's jobs, anywhere in the tree. */
function groups(): string[] {
  return readdirSync(TREE, { recursive: true, encoding: 'utf8' })
    .filter((path) => basename(path).startsWith(`render-${process.pid}-`))
    .map((path) => join(TREE, path));
}

function processesIn(group: string): number[] {
  return readFileSync(join(group, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number);
}

function numberIn(group: string, file: string, name = ''): number {
  return Number(
    new RegExp(`^${name && `${name} `}(\\d+)$`, 'm').exec(readFileSync(join(group, file), 'utf8'))?.[1],
  );
}

/** Whether the kernel schedules CPU time by group. Otherwise it does by session. */
function hasCpuWeight(group: string): boolean {
  return existsSync(join(group, 'cpu.weight'));
}

/** The group of the landscape zygote's forks. */
let renders = '';

t.test('a job, but not its zygote, is in a group with its limits', { skip }, async (t) => {
  t.equal(groups().length, 2, 'one for forks of the zygote, one for those of the encoder');
  const { jobId } = await drawing(service, { code: ENDLESS });
  const jobs = jobsBelow(process.pid).map(({ pid }) => pid);
  // Not that of the encoder, whose fork is no process of the zygote.
  const ofJob = groups().filter((group) => processesIn(group).some((pid) => jobs.includes(pid)));
  t.equal(ofJob.length, 1);
  const [group = ''] = ofJob;
  t.equal(numberIn(group, 'memory.max'), LIMIT);
  t.equal(numberIn(group, 'memory.swap.max'), 0);
  t.equal(numberIn(group, 'pids.max'), 42);
  const inside = processesIn(group);
  t.same(inside.sort(), jobs.sort());
  t.equal(inside.length, 3, 'the scene, its watch and the first process of the namespace');
  if (hasCpuWeight(group)) t.equal(numberIn(group, 'cpu.weight'), 11, 'the weight of an unknown owner');
  await cancelToTheEnd(service, jobId);
  t.same(processesIn(group), []);
  renders = group;
});

t.test('the kernel limits the memory of all processes together', { skip }, async (t) => {
  const group = renders;
  const before = numberIn(group, 'memory.events', 'oom_kill');
  const bombs = {
    one: ['much = bytearray(os.urandom(1)) * (1 << 30)', 'time.sleep(60)'],
    many: [
      'while True:',
      '    if os.fork() == 0:',
      `        much = b"x" * ${30 * MIB}`,
      '        time.sleep(60)',
    ],
    files: [
      'for n in range(60):',
      `    open(f"/tmp/{n}", "wb").write(b"x" * ${MIB})`,
      `keep = b"x" * ${270 * MIB}`,
      'time.sleep(60)',
    ],
  };
  for (const [name, lines] of Object.entries(bombs)) {
    const job = await render(service, { code: scene(...lines) });
    t.match(
      job,
      { status: 'failed', error: 'The scene used more memory than the limit of 300 MiB.', attempts: 1 },
      name,
    );
  }
  t.ok(numberIn(group, 'memory.events', 'oom_kill') > before, 'the kernel enforced the limit');
  t.ok(numberIn(group, 'memory.peak') <= LIMIT, `at most ${numberIn(group, 'memory.peak')} bytes were used`);
  t.match(await render(service, { owner: 'known' }), { status: 'completed', attempts: 1 });
  if (hasCpuWeight(group)) t.equal(numberIn(group, 'cpu.weight'), 11);
  t.match(await render(service, { owner: 'known' }), { status: 'completed', attempts: 1 });
  if (hasCpuWeight(group)) t.equal(numberIn(group, 'cpu.weight'), 80);
});

t.test('memory shared with the zygote and only read is not counted', { skip }, async (t) => {
  const code = afterOneFrame('for _ in range(6):', '    os.fork() or os._exit(time.sleep(0.5) or 0)');
  t.match(await render(service, { code }), { status: 'completed', error: null });
});

t.test('a scene cannot access its group', { skip }, async (t) => {
  const code = scene(
    'found = [path for path in ("/sys", "/sys/fs/cgroup") if os.path.exists(path)]',
    'for name in os.listdir("/proc/self/fd"):',
    '    try: found.append(os.readlink(f"/proc/self/fd/{name}"))',
    '    except OSError: continue',
    '    if "cgroup" not in found[-1]: found.pop()',
    'raise ValueError(found)',
  );
  t.match(await render(service, { code }), { error: /^ValueError: \[\]\n/ });
});

t.test('the groups are removed with the service', { skip }, async (t) => {
  t.match(await render(service, { aspectRatio: '9:16' }), { status: 'completed' });
  t.equal(groups().length, 3, 'portrait has its own zygote');
  await service.stop();
  t.same(groups(), []);
  const again = await startService(t, { workers: 1, folder: testFolder(t) });
  t.equal(again.status().sandbox?.limits.memory, 'kernel', 'the service can be started again');
});
