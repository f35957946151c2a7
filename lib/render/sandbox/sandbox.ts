import { readFileSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import type { ZygoteReady } from '../run/messages.ts';
import type { Launcher } from '../start/launcher.ts';
import { onMachine } from '../start/renderer-root.ts';

/** An independent layer of isolation of scene code. `bubblewrap` applies to the zygote, the others to each job. */
export type SandboxLayer = 'bubblewrap' | 'namespaces' | 'landlock' | 'seccomp';

/**
 * - `full`: all layers, and the kernel enforces each render's limits of memory, processes and disk
 * - `watched`: all layers, but not all of these limits are enforced by the kernel
 * - `reduced`: some layers are missing, but the service's files and the network are inaccessible
 * - `none`: scene code has all permissions of the user that it runs as
 */
export type SandboxLevel = 'full' | 'watched' | 'reduced' | 'none';

/**
 * What enforces a limit on all processes and files of a render:
 *
 * - `kernel`: the kernel, which rejects excess use or kills the render immediately
 * - `user`: the kernel, but counting all processes of the user that renders run as
 * - `watch`: a process that checks five times a second; a render can briefly exceed the limit
 */
export type LimitEnforcer = 'kernel' | 'user' | 'watch';

/** What enforces each total limit of a render. */
export interface SandboxLimits {
  memory: Exclude<LimitEnforcer, 'user'>;
  processes: Exclude<LimitEnforcer, 'watch'>;
  disk: Exclude<LimitEnforcer, 'user'>;
}

/** The sandbox of scenes. */
export interface SandboxStatus {
  level: SandboxLevel;
  layers: SandboxLayer[];
  limits: SandboxLimits;
  /** Why the other layers, or control groups, are not used. */
  problems: Partial<Record<SandboxLayer | 'cgroup', string>>;
}

/** The sandbox does not work here. The message names the problem and the remedy. */
export class SandboxRefused extends Error {
  override readonly name = 'SandboxRefused';
}

const LAYERS: SandboxLayer[] = ['bubblewrap', 'namespaces', 'landlock', 'seccomp'];
const INSECURELY =
  'To render without a sandbox, if you trust everyone who sends scenes, start with --insecure-no-sandbox.';

/** The sandbox status of a launcher and zygote. */
export function sandboxStatus(launcher: Launcher, zygote: ZygoteReady): SandboxStatus {
  const problems: SandboxStatus['problems'] = { ...zygote.problems };
  if (launcher.cgroups.problem !== undefined) problems.cgroup = launcher.cgroups.problem;
  if (launcher.isolation === 'none') problems.bubblewrap = launcher.isolationProblem ?? 'it does not start';
  const layers = LAYERS.filter((layer) =>
    layer === 'bubblewrap' ? launcher.isolation === 'bubblewrap' : zygote.layers.includes(layer),
  );
  const hasWall = layers.includes('landlock') || layers.includes('bubblewrap');
  const limits = limitsOf(launcher, zygote);
  if (hasAllLayers({ layers })) {
    const held = Object.values(limits).every((enforcer) => enforcer === 'kernel');
    return { level: held ? 'full' : 'watched', layers, limits, problems };
  }
  return { level: hasWall && layers.includes('seccomp') ? 'reduced' : 'none', layers, limits, problems };
}

/** Whether all layers are active, however limits are enforced. */
export function hasAllLayers({ layers }: Pick<SandboxStatus, 'layers'>): boolean {
  return layers.length === LAYERS.length;
}

function limitsOf({ firstUid }: Launcher, { cgroup, layers }: ZygoteReady): SandboxLimits {
  const isIsolated = layers.includes('namespaces');
  // A worker's own user has no other processes; for a shared user, newer kernels count per user namespace.
  const isCountedApart = cgroup || firstUid !== undefined || (isIsolated && countsByNamespace(release()));
  return {
    memory: cgroup ? 'kernel' : 'watch',
    processes: isCountedApart ? 'kernel' : 'user',
    disk: isIsolated ? 'kernel' : 'watch',
  };
}

/** Whether the kernel counts processes per user namespace: Linux 5.14 and newer. */
export function countsByNamespace(kernelRelease: string): boolean {
  const [major = 0, minor = 0] = kernelRelease.split('.').map(Number);
  return major > 5 || (major === 5 && minor >= 14);
}

/** The error when there is no sandbox. */
export function noSandbox({ problems }: SandboxStatus): SandboxRefused {
  const reasons = LAYERS.filter((layer) => problems[layer]).map((layer) => `${layer}: ${problems[layer]}`);
  return new SandboxRefused(
    `Scene code can't be sandboxed here (${reasons.join('; ')}). ${remedy()} ${INSECURELY}`,
  );
}

/** The scene that attacks the service's own sandbox; {@link selfAttackProblem} evaluates its result. */
export function selfAttackCode(
  launcher: Launcher,
  targets: {
    secrets: string[];
    folders: string[];
    marks: string[];
    processes: number;
    others: number;
    paths: string[];
    hostName: string;
  },
): string {
  const source = ownScene(launcher, 'self_attack.py');
  const [docstring = '', ...rest] = source.split('TARGETS: dict\n');
  const values = JSON.stringify({ ...targets, service: process.pid });
  return `${docstring}TARGETS = ${values}\n${rest.join('')}`;
}

/** Evaluates the error of the self-attack and the files it wrote; undefined when the sandbox passes. */
export function selfAttackProblem(
  error: string | undefined | null,
  marks: string[],
): SandboxRefused | undefined {
  if (error && /^SandboxHolds$/m.test(error) && marks.length === 0) return undefined;
  const leaks =
    marks.length > 0 ? "wrote into the service's folders" : error?.match(/^SandboxLeaks: (.*)$/m)?.[1];
  return new SandboxRefused(
    leaks
      ? `A scene that attacked the sandbox got through: it ${leaks}. ${remedy()} ${INSECURELY}`
      : `The sandbox could not be tested by a trial attack: ${error ?? 'the attack ended without a result'}.`,
  );
}

/** A scene with text, TeX and 3D, to test sandboxes whose setup depends on this machine. */
export function trialSceneCode(launcher: Launcher): string {
  return ownScene(launcher, 'trial.py');
}

/** The source of a scene of the service's own. */
export function ownScene(launcher: Launcher, name: string): string {
  return readFileSync(onMachine(launcher, join(launcher.packageFolder, 'scenes', name)), 'utf8');
}

export function trialProblem(error: string | undefined): SandboxRefused {
  return new SandboxRefused(
    `Text, TeX and 3D can't all be rendered in the reduced sandbox that this machine permits: ` +
      `${error ?? 'the render ended without a result'}. ${remedy()} ${INSECURELY}`,
  );
}

/** The most likely remedy for missing layers. */
function remedy(): string {
  if (setting('kernel/apparmor_restrict_unprivileged_userns') === '1') {
    return (
      'AppArmor forbids user namespaces here: set `sysctl kernel.apparmor_restrict_unprivileged_userns=0`, or give ' +
      'bwrap a profile in /etc/apparmor.d that has `userns,`.'
    );
  }
  if (setting('kernel/unprivileged_userns_clone') === '0') {
    return 'User namespaces are disabled here: set `sysctl kernel.unprivileged_userns_clone=1`.';
  }
  if (setting('user/max_user_namespaces') === '0') {
    return 'User namespaces are disabled here: set `sysctl user.max_user_namespaces=10000`.';
  }
  return (
    'Linux 5.13 or newer with Landlock, seccomp and user namespaces, bubblewrap and libseccomp are needed; a container ' +
    'needs `--security-opt seccomp=unconfined --security-opt systempaths=unconfined`.'
  );
}

function setting(name: string): string | undefined {
  try {
    return readFileSync(`/proc/sys/${name}`, 'utf8').trim();
  } catch {
    return undefined; // The kernel does not have this setting.
  }
}
