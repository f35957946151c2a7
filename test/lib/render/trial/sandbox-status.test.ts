import t from 'tap';
import type { ZygoteReady } from '../../../../lib/model/zygote-messages.ts';
import type { Launcher } from '../../../../lib/render/start/launcher.ts';
import { countsByNamespace, sandboxStatus } from '../../../../lib/render/trial/sandbox-status.ts';

const launcher = (isolation: Launcher['isolation']): Launcher => ({
  python: 'python',
  tree: undefined,
  environment: undefined,
  packageFolder: 'renderer',
  studio: undefined,
  scene: undefined,
  cgroups: { folder: undefined, problem: 'there is none' },
  firstUid: undefined,
  silenceTimeoutMs: 1,
  insecureNoSandbox: false,
  isolation,
  isolationProblem: isolation === 'none' ? 'bwrap is not installed' : undefined,
});
const zygote = (cgroup: boolean, ...layers: string[]): ZygoteReady => ({
  type: 'ready',
  manim: '',
  python: '',
  layers,
  problems: layers.includes('namespaces') ? {} : { namespaces: 'EPERM' },
  cgroup,
});

t.test('the level depends on the layers', async (t) => {
  const level = (isolation: Launcher['isolation'], ...layers: string[]) =>
    sandboxStatus(launcher(isolation), zygote(true, ...layers)).level;
  t.equal(level('bubblewrap', 'namespaces', 'landlock', 'seccomp'), 'full');
  t.equal(level('none', 'namespaces', 'landlock', 'seccomp'), 'reduced');
  t.equal(level('bubblewrap', 'landlock', 'seccomp'), 'reduced');
  t.equal(level('bubblewrap', 'seccomp'), 'reduced');
  t.equal(level('none', 'landlock', 'seccomp'), 'reduced');
  t.equal(level('none', 'seccomp'), 'none', 'files are accessible');
  t.equal(level('none', 'landlock'), 'none', 'sockets are accessible');
  t.equal(level('bubblewrap'), 'none');
});

t.test('the level is full only if the kernel enforces every limit', async (t) => {
  const all = ['namespaces', 'landlock', 'seccomp'];
  const status = (cgroup: boolean, layers: string[], firstUid?: number) => {
    const { level, limits } = sandboxStatus(
      { ...launcher('bubblewrap'), firstUid },
      zygote(cgroup, ...layers),
    );
    return { level, ...limits };
  };
  t.same(status(true, all), { level: 'full', memory: 'kernel', processes: 'kernel', disk: 'kernel' });
  t.match(status(false, all, 58_000), {
    level: 'watched',
    memory: 'watch',
    processes: 'kernel',
    disk: 'kernel',
  });
  t.match(status(false, all.slice(1)), {
    level: 'reduced',
    memory: 'watch',
    processes: 'user',
    disk: 'watch',
  });
  t.match(status(false, all.slice(1), 58_000), { processes: 'kernel' });
  t.equal(countsByNamespace('5.13.19-generic'), false);
  t.equal(countsByNamespace('5.14.0-70.el9'), true);
  t.equal(countsByNamespace('6.1.0'), true);
});

t.test('missing layers are reported with the reason', async (t) => {
  const status = sandboxStatus(launcher('none'), zygote(false, 'landlock'));
  t.same(status.problems, {
    namespaces: 'EPERM',
    bubblewrap: 'bwrap is not installed',
    cgroup: 'there is none',
  });
});
