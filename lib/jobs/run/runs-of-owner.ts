import { ScenepressError } from '../../base/errors.ts';
import type { FileSet, GivenFiles } from '../../model/owner-file.ts';
import type { Role } from '../../model/roles.ts';
import { filesOfCheck, filesOfRequest, isLeftOut, type JobFiles } from '../../owner-files/file-sets.ts';
import type { FileTrees } from '../../owner-files/file-trees.ts';
import type { SentFiles } from '../../owner-files/sent-files.ts';
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
  /** What the scenes may read. */
  set: FileSet | undefined;
}

/** The files of a request for a short task, when their contents have been received. */
export type ReceivedFiles = Pick<JobFiles, 'files' | 'sent'>;

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
export function runsOfOwner(parts: Omit<RunParts, 'roles' | 'storage'>, { owner, signal, set }: Asked): Runs {
  const { shortRuns, tex } = parts;
  return async (task) => {
    const before = tex?.changes ?? 0;
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

/**
 * Calls `work` with the ids of the files of a request, when its contents have been received; they are removed afterwards.
 * Errors: `invalid_request`, those of {@link SentFiles.with}, and those of `work`.
 */
export async function withReceived<
  Request extends { owner?: string; signal?: AbortSignal; files?: GivenFiles },
  Result,
>(
  { sentFiles }: { sentFiles: Pick<SentFiles, 'with'> },
  { files: asked, ...request }: Request,
  work: (request: Omit<Request, 'files'> & ReceivedFiles) => Promise<Result>,
): Promise<Result> {
  const { files, given } = filesOfRequest(asked);
  if (!given) return work({ ...request, files });
  const { owner, signal } = request;
  if (owner === undefined) throw ownerless();
  return sentFiles.with(
    owner,
    [given],
    ([received]) => work({ ...request, files: received?.files, sent: received?.sent }),
    signal,
  );
}

/** The files that a short task of an owner comes with: as a job would. Errors: those of {@link filesOfCheck}. */
export async function filesFor(
  { storage }: Pick<RunParts, 'storage'>,
  { owner, files, sent }: { owner: string | undefined } & ReceivedFiles,
): Promise<FileSet | undefined> {
  if (owner !== undefined) return filesOfCheck(storage.files, owner, { files, sent });
  if (files === undefined) return undefined;
  throw ownerless();
}

function ownerless(): ScenepressError {
  return new ScenepressError('invalid_request', 'Files belong to an owner: give `owner`, too.');
}

/** Runs a task with the folder of its files. Errors: those of {@link FileTrees.take} and of the task. */
export async function withFiles<Result>(
  { trees }: Pick<RunParts, 'trees'>,
  set: FileSet | undefined,
  task: (ofFiles: { files?: string }) => Promise<Result>,
): Promise<Result> {
  const tree = set && !isLeftOut(set) ? await trees?.take(set) : undefined;
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
