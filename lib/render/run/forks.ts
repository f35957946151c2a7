import { chownSync } from 'node:fs';
import { makeFolderWithin } from '../../files/disk.ts';
import { newShortage } from '../../files/shortage.ts';
import { findingOf } from '../../model/finding.ts';
import type { RenderLimits } from '../../model/limits.ts';
import type {
  Inspection,
  RenderResult,
  RenderUsage,
  SceneFailure,
  StopReason,
} from '../../model/render-task.ts';
import type {
  EncodeJob,
  FailedReport,
  JobReport,
  PlaceReport,
  RenderEnded,
  RendererJob,
  SpeechAnswer,
} from '../../model/renderer-messages.ts';
import type { JobEnded } from '../../model/zygote-messages.ts';
import { outputsOf } from '../end/collect.ts';
import type { ZygoteSettings } from '../start/encoder-process.ts';
import { seenInWork, uidOf } from '../start/launcher.ts';
import type { Zygote } from '../start/zygote.ts';
import { endedBefore, tooSlow } from './end-messages.ts';
import { JobChannel } from './job-channel.ts';
import { linkFiles, linksBeside } from './job-files.ts';
import type { SceneReports } from './scene-reports.ts';
import type { WorkerSettings } from './worker-settings.ts';

/** Space for captions and a thumbnail. */
const OTHER_FILES_BYTES = 64 * 1024 * 1024;
const VERDICTS = new Set<JobReport['type']>(['done', 'encoded', 'scenes', 'checked', 'read', 'failed']);

/** Why a job is stopped early. */
export type EndReason = StopReason | 'timeout';

/** A zygote with a job, or reserved for one. */
export interface Occupied {
  zygote: Zygote;
  background: boolean;
  endReason: EndReason | undefined;
  /** Its encoding has failed, so it is killed as soon as it runs. */
  isDoomed?: boolean;
}

/** A fork could not be prepared or ended, or its zygote died, before it had read its job. */
export class JobNotRead extends Error {
  override readonly name = 'JobNotRead';
}

/** A process of a running job that no scene can reach was ended, or the machine was short of something for it. */
export class JobInterrupted extends Error {
  override readonly name = 'JobInterrupted';
}

/** The result of a fork. */
export interface ForkOutcome {
  end: JobEnded;
  /** The first `done`, `encoded` or `failed` report. */
  verdict:
    | Extract<JobReport, { type: 'done' | 'encoded' | 'scenes' | 'checked' | 'read' | 'failed' }>
    | undefined;
  /** What the scene was doing when it last reported that. */
  place: Place;
}

/** `text`: in sentences, empty if the scene did not report it. */
export type Place = Pick<PlaceReport, 'text'> & { line: number | null; play: number | null };

/** What forks depend on. */
export type ForkSettings = ZygoteSettings & Pick<WorkerSettings, 'dataFolder'>;

/** The forks of one worker's zygotes. */
export class Forks {
  readonly #settings: ForkSettings;
  /** The worker's folder, which contains those of its jobs. */
  readonly #folder: string;

  constructor(settings: ForkSettings, folder: string) {
    this.#settings = settings;
    this.#folder = folder;
  }

  /**
   * Forks `current.zygote` for a job in `folder`, and waits for the end of the fork. `frames`: the path of the socket for
   * the frames of a render, as the forks see it; `files`: the folder with the job's files, of which links are left beside
   * its folder; `onConnected`: called when the fork can be told more. Rejects if the fork was ended by other than its job, its limits and its stop:
   * {@link JobNotRead}, {@link JobInterrupted} or `ZygoteDied`. Its zygote is then replaced.
   */
  async run(
    current: Occupied,
    folder: string,
    job: RendererJob,
    onReport: (report: JobReport) => void,
    {
      frames,
      files: given,
      onConnected,
      onVerdict = () => {},
    }: {
      frames?: string;
      files?: string | undefined;
      onConnected?: (tell: (message: RenderEnded | SpeechAnswer) => void) => void;
      /** Called before the fork has ended. */
      onVerdict?: (verdict: NonNullable<ForkOutcome['verdict']>) => void;
    } = {},
  ): Promise<ForkOutcome> {
    const { clock, limits, processes } = this.#settings;
    const { memoryBytes, diskBytes, files, fileSizeBytes } = limits;
    let verdict: ForkOutcome['verdict'];
    let place: Place = { text: '', line: null, play: null };
    // A render sends a report before it reads the scene; other forks may die of what they read.
    let isRead = job.kind === 'encode' || job.kind === 'read';
    this.makeFolder(folder);
    const links = linksBeside(folder);
    if (given !== undefined) await linkFiles(given, links).catch(rejectUnread);
    const channel = await JobChannel.open({
      folder,
      uid: this.uid,
      job,
      clock,
      processes,
      onConnected,
      onReport: (report) => {
        isRead = true;
        if (verdict) return;
        if (VERDICTS.has(report.type)) {
          verdict = report as NonNullable<ForkOutcome['verdict']>;
          onVerdict(verdict);
        } else if (report.type === 'place') place = { ...report, line: report.line || null };
        else onReport(report);
      },
    }).catch(rejectUnread);
    const seen = this.seen(folder);
    try {
      const running = current.zygote.run({
        type: 'fork',
        job: folder.slice(this.#folder.length + 1),
        folder: seen,
        socket: JobChannel.pathIn(seen),
        frames: frames ?? null,
        isEncoder: job.kind === 'encode',
        filesFolder: given === undefined ? null : this.seen(links),
        memoryBytes,
        diskBytes: job.kind === 'encode' ? bytesForEncoding(this.#settings.limits, job) : diskBytes,
        files,
        fileSizeBytes,
        background: current.background,
        outputs: job.kind === 'encode' ? outputsOf(job, this.#settings.limits) : {},
      });
      // A stop may have been requested, or its encoding failed, before there was a fork to kill.
      if (current.endReason || current.isDoomed) current.zygote.killJob();
      const end = await running.catch((error: Error) => {
        throw channel.connected ? error : new JobNotRead(error.message);
      });
      await channel.drained();
      if (end.reason !== null || current.endReason) return { end, verdict, place };
      const shortage = end.shortage === null ? undefined : newShortage(end.shortage);
      if (!channel.connected) {
        // Without a free file descriptor the service could not accept the connection.
        const cause = channel.shortage() ?? shortage;
        // Such as that its work folder was removed, and another is in its place.
        if (end.problem !== null && cause === undefined) current.zygote.replace(end.problem);
        throw new JobNotRead(end.problem ?? endedBefore(end), { cause });
      }
      if (end.problem !== null || !isRead) {
        const problem = end.problem ?? endedBefore(end);
        current.zygote.replace(problem);
        throw isRead ? new JobInterrupted(problem) : new JobNotRead(problem, { cause: shortage });
      }
      return { end, verdict, place };
    } finally {
      channel.close();
    }
  }

  /**
   * The failure of a fork; undefined when it succeeded. Error: {@link JobInterrupted} if the machine was short of something
   * while it failed, whatever it failed by.
   */
  failureOf(
    outcome: ForkOutcome,
    describe: (end: JobEnded, limits: RenderLimits) => SceneFailure,
    endReason: EndReason | undefined,
    durationMs: number,
  ): RenderResult | undefined {
    const { reason, signal, shortage } = outcome.end;
    const described = () => withFinding(describe(outcome.end, this.#settings.limits), outcome.place);
    if (reason === 'disk_full') return { kind: 'disk_full', durationMs };
    const hasSucceeded = outcome.verdict !== undefined && outcome.verdict.type !== 'failed';
    if (shortage !== null && !hasSucceeded && reason === null && endReason === undefined)
      throw new JobInterrupted(shortage, { cause: newShortage(shortage) });
    // When the disk or file limit is reached, it is the cause of any failure.
    const isFull = reason === 'disk' || reason === 'files';
    if (outcome.verdict?.type === 'failed')
      return {
        kind: 'failed',
        durationMs,
        ...(isFull ? described() : failureIn(outcome.verdict)),
      };
    // A fork killed after its verdict may have left incomplete files.
    const isIncomplete = endReason !== undefined && signal === 'SIGKILL';
    if (outcome.verdict && !isIncomplete) return undefined;
    // Ending a job that exceeded another limit can take until the time-out.
    if (endReason === 'timeout' && outcome.end.reason === null)
      return {
        kind: 'failed',
        durationMs,
        ...withFinding(tooSlow(this.#settings.limits, outcome.place.text), outcome.place),
      };
    if (endReason && endReason !== 'timeout') return { kind: 'stopped', durationMs, reason: endReason };
    return {
      kind: signal === 'SIGKILL' && reason === null ? 'killed' : 'failed',
      durationMs,
      ...described(),
    };
  }

  /** The path of a folder in the worker's, as the forks see it. */
  seen(folder: string): string {
    return seenInWork(this.#settings.launcher, this.#folder, folder);
  }

  /** The user id of forks; undefined: that of this process. */
  get uid(): number | undefined {
    return uidOf(this.#settings.launcher, this.#settings.index);
  }

  /** Creates a folder owned by the fork's user. Error: {@link JobNotRead}. */
  makeFolder(folder: string): void {
    try {
      makeFolderWithin(folder, 0o700, this.#settings.dataFolder);
    } catch (cause) {
      throw new JobNotRead((cause as Error).message, { cause });
    }
    if (this.uid !== undefined) chownSync(folder, this.uid, this.uid);
  }
}

function failureIn({ error, failedBy, finding }: FailedReport): SceneFailure {
  return { error, failedBy, finding };
}

/** A failure of a process that could not report it, at the place that it reported last. */
export function withFinding(failure: SceneFailure, place: Place): SceneFailure {
  return { ...failure, finding: findingOf(failure, place) };
}

function rejectUnread(cause: Error): never {
  throw new JobNotRead(cause.message, { cause });
}

/** The length of the video, as reported by the fork. */
export function lengthOf({ verdict }: ForkOutcome): { frames: number; seconds: number } {
  if (verdict?.type !== 'encoded') return { frames: 0, seconds: 0 };
  return { frames: verdict.frames, seconds: verdict.seconds };
}

/** What an inspection found, as reported by the forks. */
export function inspectionOf(
  { verdict }: ForkOutcome,
  { moves, pictures, findings, params }: Pick<SceneReports, 'moves' | 'pictures' | 'findings' | 'params'>,
): Inspection {
  const { frames, seconds, readsPixels } =
    verdict?.type === 'checked' ? verdict : { frames: 0, seconds: 0, readsPixels: false };
  return { frames, seconds, readsPixels, moves, pictures, findings, params };
}

/** The video, as reported by the fork that encoded it. */
export function videoOf({ verdict }: ForkOutcome): Pick<RenderUsage, 'copiedFrames' | 'videoSeconds'> {
  if (verdict?.type !== 'encoded') return { copiedFrames: 0 };
  return { copiedFrames: verdict.copiedFrames, videoSeconds: verdict.seconds };
}

/**
 * The disk limit of an encoding: the video while its index is moved to its beginning, an earlier video, and some
 * megabytes; and each other format.
 */
function bytesForEncoding(
  { outputBytes, diskBytes }: RenderLimits,
  { local, isIndexed, formats }: EncodeJob,
): number {
  const bytes = ((isIndexed ? 3 : 2) + formats.length) * outputBytes + OTHER_FILES_BYTES;
  return local ? Math.max(bytes, diskBytes) : bytes;
}
