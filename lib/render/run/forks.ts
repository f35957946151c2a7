import { chownSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { filesOf } from '../end/collect.ts';
import { seenInWork, uidOf } from '../start/launcher.ts';
import type { Zygote } from '../start/zygote.ts';
import { JobChannel } from './job-channel.ts';
import type { RenderLimits } from './limits.ts';
import type { JobEnded, JobReport, RendererJob } from './protocol.ts';
import type { RenderResult, StopReason } from './render-task.ts';
import { endedBefore, tooSlow } from './words.ts';
import type { WorkerSettings } from './worker-settings.ts';

/** Captions, twice, and a thumbnail. */
const BESIDE_VIDEO_BYTES = 64 * 1024 * 1024;
const VERDICTS = new Set<JobReport['type']>(['done', 'inspected', 'scenes', 'failed']);

/** Why a job is being ended before its time. */
export type EndReason = StopReason | 'timeout';

/** A zygote with a job on it, or about to have one. */
export interface Occupied {
  zygote: Zygote;
  background: boolean;
  endReason: EndReason | undefined;
}

/** A fork ended, or its zygote died, before it was given what it was to do. */
export class Untried extends Error {
  override readonly name = 'Untried';
}

/** What one fork did. */
export interface ForkOutcome {
  end: JobEnded;
  /** It came as far as hostile bytes: a render says something before it reads the scene. */
  begun: boolean;
  /** Its last word: the first `done`, `inspected` or `failed` that it said. */
  verdict: Extract<JobReport, { type: 'done' | 'inspected' | 'scenes' | 'failed' }> | undefined;
}

/** The forks of one worker's zygotes. */
export class Forks {
  readonly #settings: WorkerSettings;
  /** Of the worker: those of its jobs lie in it. */
  readonly #folder: string;

  constructor(settings: WorkerSettings, folder: string) {
    this.#settings = settings;
    this.#folder = folder;
  }

  /** Forks `current.zygote` for a job, with `folder` as its own, and waits for the end of the fork. */
  async run(
    current: Occupied,
    folder: string,
    job: RendererJob,
    onReport: (report: JobReport) => void,
  ): Promise<ForkOutcome> {
    const { memoryBytes, diskBytes, files, fileSizeBytes } = this.#settings.limits;
    let verdict: ForkOutcome['verdict'];
    let begun = job.kind === 'inspect';
    await this.makeFolder(folder);
    const channel = await JobChannel.open({
      folder,
      uid: uidOf(this.#settings.launcher, this.#settings.index),
      job,
      onReport: (report) => {
        begun = true;
        if (verdict) return;
        if (VERDICTS.has(report.type)) verdict = report as ForkOutcome['verdict'];
        else onReport(report);
      },
    });
    const seen = seenInWork(this.#settings.launcher, this.#folder, folder);
    try {
      const running = current.zygote.run({
        job: folder.slice(this.#folder.length + 1),
        folder: seen,
        socket: JobChannel.pathIn(seen),
        memoryBytes,
        diskBytes: job.kind === 'inspect' ? roomForInspection(this.#settings.limits) : diskBytes,
        files,
        fileSizeBytes,
        background: current.background,
        ...filesOf(job.kind, this.#settings.limits),
      });
      // It may have come while there was nothing to kill yet.
      if (current.endReason) current.zygote.killJob();
      const end = await running.catch((error: Error) => {
        throw channel.connected ? error : new Untried(error.message);
      });
      // A service without a free descriptor has refused the connection: the fork was never told what to do.
      if (!channel.connected && end.reason === null && !current.endReason) {
        throw new Untried(endedBefore(end), { cause: channel.shortage() });
      }
      await channel.drained();
      return { end, begun, verdict };
    } finally {
      channel.close();
    }
  }

  /** Undefined when a fork did what it was made for. */
  failureOf(
    outcome: ForkOutcome,
    inWords: (end: JobEnded, limits: RenderLimits) => string,
    endReason: EndReason | undefined,
    durationMs: number,
  ): RenderResult | undefined {
    const { reason, signal } = outcome.end;
    if (reason === 'no_room') return { kind: 'no_room', durationMs };
    // Whatever fails while there is no room for a scene's files fails because of it.
    const isFull = reason === 'disk' || reason === 'files';
    if (outcome.verdict?.type === 'failed')
      return {
        kind: 'failed',
        durationMs,
        error: isFull ? inWords(outcome.end, this.#settings.limits) : outcome.verdict.error,
      };
    // One that is ended after its last word may not have left all that it was to leave.
    const isCut = endReason !== undefined && signal === 'SIGKILL';
    if (outcome.verdict && !isCut) return undefined;
    // To end what was found beyond another limit can take until the time is over.
    if (endReason === 'timeout' && outcome.end.reason === null)
      return { kind: 'failed', durationMs, error: tooSlow(this.#settings.limits) };
    if (endReason && endReason !== 'timeout') return { kind: 'stopped', durationMs, reason: endReason };
    if (!outcome.begun && outcome.end.reason === null) {
      return { kind: 'died', durationMs, message: endedBefore(outcome.end) };
    }
    return { kind: 'failed', durationMs, error: inWords(outcome.end, this.#settings.limits) };
  }

  /** Makes a folder that belongs to the user that the fork runs as. */
  async makeFolder(folder: string): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const uid = uidOf(this.#settings.launcher, this.#settings.index);
    if (uid !== undefined) chownSync(folder, uid, uid);
  }
}

/** Length of the video, as the fork said. */
export function lengthOf({ verdict }: ForkOutcome): { frames: number; seconds: number } {
  if (verdict?.type !== 'done' && verdict?.type !== 'inspected') return { frames: 0, seconds: 0 };
  return { frames: verdict.frames, seconds: verdict.seconds };
}

/** What was left, what is published of it, and no more than some megabytes besides. */
function roomForInspection({ outputBytes }: RenderLimits): number {
  return 2 * outputBytes + BESIDE_VIDEO_BYTES;
}
