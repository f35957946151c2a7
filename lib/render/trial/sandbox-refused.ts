import { readFileSync } from 'node:fs';
import { SANDBOX_LAYERS, type SandboxStatus } from './sandbox-status.ts';

const INSECURELY =
  'To render without a sandbox, if you trust everyone who sends scenes, start with --insecure-no-sandbox.';

/** The sandbox does not work here. The message names the problem and the remedy. */
export class SandboxRefused extends Error {
  override readonly name = 'SandboxRefused';
}

/** The error when there is no sandbox. */
export function noSandbox({ problems }: SandboxStatus): SandboxRefused {
  const reasons = SANDBOX_LAYERS.filter((layer) => problems[layer]).map(
    (layer) => `${layer}: ${problems[layer]}`,
  );
  return new SandboxRefused(
    `Scene code can't be sandboxed here (${reasons.join('; ')}). ${remedy()} ${INSECURELY}`,
  );
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
