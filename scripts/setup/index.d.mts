// The exports of the set-up for TypeScript, which itself must run without TypeScript.

/** A failure with a message for the user. */
export class SetupError extends Error {}

/** Debian package → a program whose presence shows, on other systems, that it is installed. */
export const SYSTEM_PACKAGES: Record<'run' | 'build' | 'dev' | 'binary', Record<string, string | undefined>>;

/** Names of the sources in `renderer/scene_renderer` that determine the renderer's sample of TeX. */
export const TEX_SOURCES: readonly string[];

export interface Run {
  logPath: string;
}
export function openRun(folder: string, options: { cwd: string; print: (text: string) => void }): Run;

export interface Step {
  isDone: () => boolean;
}
export function takeStep(step: Step, run: Run): Promise<void>;
export function systemPackages(options: {
  dev: boolean;
  build: boolean;
  installs?: boolean;
  machine?: { status: string; lists: string; isRoot: boolean };
}): Step;
