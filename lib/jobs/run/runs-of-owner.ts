import { ScenepressError } from '../../base/errors.ts';
import type { Role } from '../../model/roles.ts';
import { filesOfCheck, type NamedFiles } from '../../owner-files/file-sets.ts';
import type { FileTrees } from '../../owner-files/file-trees.ts';
import type { TexInstallation } from '../../render/tex/tex-installation.ts';
import type { Storage } from '../../storage/storage.ts';
import type { ShortResult, ShortRuns } from './short-runs.ts';

/** What short tasks need of a service. */
export interface RunParts {
  shortRuns: ShortRuns;
  roles: readonly Role[];
  tex: TexInstallation | undefined;
  storage: Pick<Storage, 'files'>;
  trees?: Pick<FileTrees, 'take'> | undefined;
}

/** For whom scenes run, and with which files. */
export interface Asked {
  owner: string | undefined;
  signal: AbortSignal | undefined;
  files: NamedFiles | undefined;
}

/** How a short task runs. */
export interface HowToRun {
  background: boolean;
  isTexHeld: boolean;
  /** The folder with the files of the owner. */
  files?: string;
}

/** Runs a task when it may. */
export type Runs = <Result extends ShortResult>(task: (how: HowToRun) => Promise<Result>) => Promise<Result>;

const NEVER: AbortSignal = new AbortController().signal;

/** Runs tasks for an owner when they may, again if they failed while the machine's TeX was being changed. */
export function runsOfOwner(
  { shortRuns, tex, storage, trees }: Omit<RunParts, 'roles'>,
  { owner, signal, files }: Asked,
): Runs {
  return async (task) => {
    const before = tex?.changes ?? 0;
    const set = owner === undefined ? undefined : await filesOfCheck(storage.files, owner, files);
    const run = () =>
      shortRuns.run(
        async (how) => {
          const tree = set && (await trees?.take(set));
          const isTexHeld = tex?.state === 'changing';
          const given = { ...how, isTexHeld, ...(tree && { files: tree.path }) };
          return task(given).finally(() => tree?.release());
        },
        { owner, signal },
      );
    const first = await run();
    const isOfTex = first.kind === 'failed' && 'failedBy' in first && first.failedBy === 'tex';
    if (!isOfTex || !tex?.mayHaveFailed(before)) return first;
    // No worker waits for that.
    await tex.settled(signal ?? NEVER);
    signal?.throwIfAborted();
    return run();
  };
}

/** Error: `renderer_unavailable` in a process without the role `worker`. */
export function assertWorker(roles: readonly Role[], method: string): void {
  if (roles.includes('worker')) return;
  const message = `This process has no role \`worker\`. Call \`${method}\` in a process that has it.`;
  throw new ScenepressError('renderer_unavailable', message);
}
