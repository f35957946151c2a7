// The exports of the set-up for TypeScript, which itself must run without TypeScript.

/** A failure with a message for the user. */
export class SetupError extends Error {}

/** Debian package → a program whose presence shows, on other systems, that it is installed. */
export const SYSTEM_PACKAGES: Record<
  'python' | 'build' | 'run' | 'moreTex' | 'dev' | 'binary',
  Record<string, string | undefined>
>;

/** Names of the sources in `renderer/scene_renderer` that determine the renderer's sample of TeX. */
export const TEX_SOURCES: readonly string[];

export interface Progress {
  say: (line: string) => void;
  begin: (title: string, detail: () => string) => (isDone: boolean) => void;
}
export function plainLines(say: (line: string) => void): Progress;

/** What apt-get and uv have downloaded and installed so far, by their output. */
export function aptDetail(output: string): string;
export function uvDetail(output: string): string;
/** The variables of uv for the output of `pip config list`. */
export function uvSettings(list: string): Record<string, string>;

export interface Run {
  logPath: string;
}
export function openRun(folder: string, options: { cwd: string; progress: Progress }): Run;

export interface Step {
  title: string;
  source: string;
  isDone: () => boolean;
  refusal?: () => string | undefined;
  after?: Step[];
  take: (run: Run) => Promise<void>;
}
export function takeSteps(steps: Step[], run: Run): Promise<void>;
export function systemPackages(options: {
  folder: string;
  dev?: boolean;
  build: boolean;
  moreTex?: boolean;
  installs?: boolean;
  machine?: { status: string; lists: string; isRoot: boolean };
}): { python: Step; compilers: Step; rest: Step };
