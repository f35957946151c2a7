import { release } from 'node:os';
import type { ZygoteReady } from '../../model/zygote-messages.ts';
import type { Launcher } from '../start/launcher.ts';

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
 * The mechanism that enforces a limit on all processes and files of a render:
 *
 * - `kernel`: the kernel, which rejects excess use or kills the render immediately
 * - `user`: the kernel, but counting all processes of the user that renders run as
 * - `watch`: a process that checks five times a second; a render can briefly exceed the limit
 */
export type LimitEnforcer = 'kernel' | 'user' | 'watch';

/** The mechanism that enforces each total limit of a render. */
export interface SandboxLimits {
  /** What limits the memory of a render. */
  memory: Exclude<LimitEnforcer, 'user'>;
  /** What limits its processes. */
  processes: Exclude<LimitEnforcer, 'watch'>;
  /** What limits the files that it writes. */
  disk: Exclude<LimitEnforcer, 'user'>;
}

/** The sandbox of scenes. */
export interface SandboxStatus {
  /** How well scenes are isolated. */
  level: SandboxLevel;
  /** What isolates them. */
  layers: SandboxLayer[];
  /** What enforces the limits. */
  limits: SandboxLimits;
  /** Why the other layers, or control groups, are not used. */
  problems: Partial<Record<SandboxLayer | 'cgroup', string>>;
}

/** All layers, from the outside in. */
export const SANDBOX_LAYERS: SandboxLayer[] = ['bubblewrap', 'namespaces', 'landlock', 'seccomp'];

/** The sandbox status of a launcher and zygote. */
export function sandboxStatus(launcher: Launcher, zygote: ZygoteReady): SandboxStatus {
  const problems: SandboxStatus['problems'] = { ...zygote.problems };
  if (launcher.cgroups.problem !== undefined) problems.cgroup = launcher.cgroups.problem;
  if (launcher.isolation === 'none') problems.bubblewrap = launcher.isolationProblem ?? 'it does not start';
  const layers = SANDBOX_LAYERS.filter((layer) =>
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
  return layers.length === SANDBOX_LAYERS.length;
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
