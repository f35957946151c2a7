import { ScenepressError } from '../../base/errors.ts';
import type { FileSet } from '../../model/owner-file.ts';
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
export function runsOfOwner(parts: Omit<RunParts, 'roles'>, asked: Asked): Runs {
  const { shortRuns, tex } = parts;
  const { owner, signal } = asked;
  return async (task) => {
    const before = tex?.changes ?? 0;
    const set = await filesFor(parts, asked);
    const run = () =>
      shortRuns.run(
        (how) =>
          withFiles(parts, set, (ofFiles) =>
            task({ ...how, isTexHeld: tex?.state === 'changing', ...ofFiles }),
          ),
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

/** The files that a short task of an owner comes with: as a job would. Errors: those of {@link filesOfCheck}. */
export async function filesFor(
  { storage }: Pick<RunParts, 'storage'>,
  { owner, files }: Pick<Asked, 'owner' | 'files'>,
): Promise<FileSet | undefined> {
  if (owner !== undefined) return filesOfCheck(storage.files, owner, files);
  if (files === undefined) return undefined;
  throw new ScenepressError('invalid_request', 'Files belong to an owner: give `owner`, too.');
}

/** Runs a task with the folder of its files. Errors: those of {@link FileTrees.take} and of the task. */
export async function withFiles<Result>(
  { trees }: Pick<RunParts, 'trees'>,
  set: FileSet | undefined,
  task: (ofFiles: { files?: string }) => Promise<Result>,
): Promise<Result> {
  const tree = set && (await trees?.take(set));
  try {
    return await task(tree ? { files: tree.path } : {});
  } finally {
    tree?.release();
  }
}

/** Error: `renderer_unavailable` in a process without the role `worker`. */
export function assertWorker(roles: readonly Role[], method: string): void {
  if (roles.includes('worker')) return;
  const message = `This process has no role \`worker\`. Call \`${method}\` in a process that has it.`;
  throw new ScenepressError('renderer_unavailable', message);
}
