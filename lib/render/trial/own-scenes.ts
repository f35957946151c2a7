import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onMachine } from '../environment/renderer-root.ts';
import type { Launcher } from '../start/launcher.ts';

/** The source of a scene of the service's own. */
export function ownScene(launcher: Launcher, name: string): string {
  return readFileSync(onMachine(launcher, join(launcher.packageFolder, 'scenes', name)), 'utf8');
}

/** The scene that attacks the service's own sandbox; `selfAttackProblem` evaluates its result. */
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

/** A scene with text, TeX and 3D, to test sandboxes whose setup depends on this machine. */
export function trialSceneCode(launcher: Launcher): string {
  return ownScene(launcher, 'trial.py');
}
