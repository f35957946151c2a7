import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { freeSpaceOf, isLess, isOutOfSpace } from '../../files/disk.ts';
import { isShortage } from '../../files/shortage.ts';
import { type Drawing, drawingsOf } from '../../model/formats.ts';
import type {
  CheckResult,
  CheckTask,
  ListResult,
  ListTask,
  RenderMessage,
  RenderResult,
  RenderTask,
  RenderUsage,
  ShortFailure,
  StopReason,
  TaskMessage,
} from '../../model/render-task.ts';
import type { JobReport, RendererJob } from '../../model/renderer-messages.ts';
import type { Timer } from '../../time/clock.ts';
import { Pulse } from '../counters/pulse.ts';
import { filesIn, indexIn, othersIn } from '../end/collect.ts';
import { discardFolder } from '../end/remove-folder.ts';
import { assertSameLayers } from '../start/encoder-process.ts';
import { ZygoteDied } from '../start/zygote.ts';
import { drawScene, type Folders } from './draw-scene.ts';
import { type DrawingTimes, workOf } from './drawing-times.ts';
import { bringEarlier } from './earlier-video.ts';
import type { Encoding } from './encoding.ts';
import { silentEnd } from './end-messages.ts';
import {
  type EndReason,
  type ForkOutcome,
  Forks,
  inspectionOf,
  JobInterrupted,
  JobNotRead,
  lengthOf,
  type Occupied,
  videoOf,
  withFinding,
} from './forks.ts';
import { linksBeside } from './job-files.ts';
import { checkJob, listJob } from './jobs-of-tasks.ts';
import { ProgressSender } from './progress-sender.ts';
import { SceneReports } from './scene-reports.ts';
import { SpeechRequests } from './speech-requests.ts';
import type { WorkerEvents, WorkerSettings } from './worker-settings.ts';
import { Zygotes } from './zygotes.ts';

/** A disk with less counts as full; the failed job may have deleted some of its files. */
const FULL_BELOW = { bytes: 1024 * 1024, files: 16 };

/** Time-out of listings and checks, which may use 5 seconds of processor time. */
const SHORT_TIMEOUT_MS = 15_000;
const LISTED_TOO_SLOWLY = 'The code takes too long before it defines its scenes.';
const CHECKED_TOO_SLOWLY = 'The check took too long.';
const FORGED = "The scene's process sent something else than the renderer sends.";

/** Renders one task at a time in a fork of a zygote; another fork encodes its frames. */
export class RenderWorker {
  readonly #settings: WorkerSettings;
  readonly #events: WorkerEvents;
  readonly #folder: string;
  readonly #forks: Forks;
  readonly #zygotes: Zygotes;
  readonly #pulse: Pulse;
  #attempts = 0;
  #current: Occupied | undefined;
  /** That of the current render. */
  #encoding: Encoding | undefined;

  constructor(settings: WorkerSettings, events: WorkerEvents) {
    this.#settings = settings;
    this.#events = events;
    this.#folder = join(settings.workFolder, `w${settings.index}`);
    this.#pulse = new Pulse({ pulses: settings.pulses, side: 'workers', clock: settings.clock });
    this.#forks = new Forks(settings, this.#folder);
    this.#zygotes = new Zygotes({ settings, events, folder: this.#folder, forks: this.#forks });
  }

  /** Zygotes that can render now. */
  get warm(): number {
    return this.#zygotes.warm;
  }

  /** Starts the landscape zygote before it is needed. */
  warmUp(): void {
    this.#zygotes.get('landscape').catch(() => {}); // Reported, and tried again.
  }

  /** Renders a task. Never rejects for anything that a scene or the renderer does. */
  async render(task: RenderTask): Promise<RenderResult> {
    const send = (message: RenderMessage) => task.port.postMessage(message);
    const isPortrait = task.local ? task.local.portrait : task.heightPx > task.widthPx;
    const orientation = isPortrait ? 'portrait' : 'landscape';
    const attempt = `${++this.#attempts}`;
    const jobFolder = join(this.#folder, attempt);
    const outFolder = join(this.#folder, `${attempt}.out`);
    const otherFolder = join(this.#folder, `${attempt}.other`);
    let stopped: StopReason | undefined;
    const { clock } = this.#settings;
    let startedAtMs: number | undefined;
    const { workedMs, end } = this.#pulse.begin();
    let waitedMs = 0;
    const durationMs = () => (startedAtMs === undefined ? 0 : Math.round(workedMs() - waitedMs));
    const { previewIntervalMs } = task;
    const { limits } = this.#settings;
    const nowMs = () => clock.uptimeMs();
    const progress = new ProgressSender({ send, previewIntervalMs, nowMs });
    const reports = new SceneReports({ nowMs, onOutput: (text) => send({ type: 'output', text }) });
    const drawings: DrawingTimes[] = [];
    let keepOutFolder = false;
    let peakMemoryBytes: number | null = null;
    let video: ReturnType<typeof videoOf> = { copiedFrames: 0 };
    const withDetails = <Result extends RenderResult>(result: Result): Result => {
      if (startedAtMs === undefined || !hasDetails(result)) return result;
      const { output } = reports;
      const workMs = workOf(drawings, nowMs());
      const stagesMs = progress.stagesMs(startedAtMs);
      return {
        ...result,
        output,
        usage: { stagesMs, ...(workMs && { workMs }), peakMemoryBytes, ...video },
      };
    };

    const speech = new SpeechRequests(send);
    task.port.on('message', (message: TaskMessage) => {
      if (message.type === 'spoken') return speech.answer(message);
      stopped ??= message.reason;
      this.#end(stopped);
    });
    try {
      const zygote = await this.#zygotes.get(orientation);
      const encoder = await this.#zygotes.encoder();
      assertSameLayers(encoder, zygote);
      if (task.earlier && (task.local || zygote.layers.includes('namespaces'))) {
        this.#forks.makeFolder(outFolder);
        await bringEarlier(task.earlier, outFolder, this.#forks.uid);
      }
      if (stopped) return { kind: 'stopped', durationMs: 0, reason: stopped };
      startedAtMs = clock.uptimeMs();
      waitedMs = workedMs();
      send({ type: 'started' });

      const current: Occupied = { zygote, background: task.background, endReason: undefined };
      this.#current = current;
      const timer = this.#limitTime(limits.timeoutMs, durationMs);
      try {
        const draw = async (drawing: Drawing, folders: Folders, ofDrawing: SceneReports) => {
          const startedDrawingAtMs = nowMs();
          for (const before of drawings) before.endedAtMs ??= startedDrawingAtMs;
          drawings.push({ reports: ofDrawing, startedAtMs: startedDrawingAtMs });
          const heard = { progress, reports: ofDrawing, speech };
          const parts = { current, encoder, folders, limits, durationMs, ...heard };
          const drawn = await drawScene(this.#forks, task, drawing, parts, (encoding) => {
            this.#encoding = encoding;
          });
          peakMemoryBytes = Math.max(peakMemoryBytes ?? 0, drawn.rendered.end.memoryBytes ?? 0) || null;
          return drawn;
        };
        const [first, second] = drawingsOf(task.formats ?? []);
        const { rendered, encoded, failure, reason } = await draw(first, { jobFolder, outFolder }, reports);
        if (failure) return withDetails(await this.#orDiskFull(failure, reason));
        video = videoOf(encoded);
        if (second) {
          const others = { jobFolder: otherFolder, outFolder: `${otherFolder}.out` };
          const unheard = new SceneReports({ nowMs, onOutput: () => {} });
          const drawn = await draw(second, others, unheard);
          if (drawn.failure) return withDetails(await this.#orDiskFull(drawn.failure, drawn.reason));
          for (const name of await othersIn(others.outFolder, second.formats))
            await rename(join(others.outFolder, name), join(outFolder, name));
        }
        const made = await filesIn(outFolder, task);
        if (!made) throw new Error('an encoding left no files');
        const index = await indexIn(outFolder);
        keepOutFolder = true;
        return withDetails({
          kind: 'rendered',
          durationMs: durationMs(),
          ...lengthOf(encoded),
          ...made,
          ...(index !== undefined && { index }),
          plays: made.files.length > 0 || task.inspect !== undefined ? reports.plays : [],
          ...(task.inspect !== undefined && { inspection: inspectionOf(rendered, reports) }),
          folder: outFolder,
        });
      } finally {
        timer.cancel();
        await this.#encoding?.close();
        this.#encoding = undefined;
      }
    } catch (error) {
      if (stopped) return { kind: 'stopped', durationMs: durationMs(), reason: stopped };
      const { message } = error as Error;
      if (isOutOfSpace(error)) return { kind: 'disk_full', durationMs: 0 };
      const lacksResources = isShortage(error);
      if (error instanceof JobInterrupted && lacksResources)
        return { kind: 'interrupted', durationMs: 0, message, isShortage: true };
      if (startedAtMs === undefined || error instanceof JobNotRead || lacksResources)
        return { kind: 'unavailable', durationMs: 0, message, isShortage: lacksResources };
      // Without namespaces, a scene could have killed it.
      const isOutOfReach = error instanceof ZygoteDied && this.#current?.zygote.layers.includes('namespaces');
      if (isOutOfReach || error instanceof JobInterrupted)
        return { kind: 'interrupted', durationMs: 0, message };
      return await this.#orDiskFull({ kind: 'died', durationMs: durationMs(), message });
    } finally {
      end();
      this.#current = undefined;
      task.port.close();
      for (const folder of task.formats ? [jobFolder, otherFolder, `${otherFolder}.out`] : [jobFolder]) {
        await this.#discard(folder);
        if (task.files !== undefined) await this.#discard(linksBeside(folder));
      }
      if (!keepOutFolder) await this.#discard(outFolder);
    }
  }

  /**
   * Converts a failure to `disk_full` when the disk is full, unless the job was ended for a `reason`. Called before the
   * job's files are removed.
   */
  async #orDiskFull(failure: RenderResult, reason?: string | null): Promise<RenderResult> {
    if (reason) return failure;
    if (!this.#zygotes.haveFolders) {
      return { kind: 'unavailable', durationMs: 0, message: 'the folder that it worked in was removed' };
    }
    const isFull = await freeSpaceOf(this.#settings.workFolder).then(
      (free) => isLess(free, FULL_BELOW),
      () => false,
    );
    return isFull ? { kind: 'disk_full', durationMs: failure.durationMs } : failure;
  }

  /** Lists the scenes of a source by running it in the sandbox. */
  async list(task: ListTask): Promise<ListResult> {
    const job = listJob(task, this.#settings.limits);
    return this.#runAlone(job, 'landscape', task, ({ verdict }, durationMs) =>
      verdict?.type === 'scenes' ? { kind: 'listed', scenes: verdict.names, durationMs } : undefined,
    );
  }

  /** Runs a scene in the sandbox without drawing it. */
  async check(task: CheckTask): Promise<CheckResult> {
    const job = checkJob(task, this.#settings.limits);
    const reports = new SceneReports({ nowMs: () => this.#settings.clock.uptimeMs(), onOutput: () => {} });
    const orientation = task.heightPx > task.widthPx ? 'portrait' : 'landscape';
    const result = await this.#runAlone(
      job,
      orientation,
      task,
      ({ verdict }, durationMs) => {
        if (verdict?.type !== 'checked') return undefined;
        const { type: _, ...length } = verdict;
        return { kind: 'checked' as const, ...length, plays: reports.plays, durationMs };
      },
      (report) => void reports.take(report),
    );
    return result.kind === 'died' ? result : { ...result, params: reports.params };
  }

  /** Runs a job that has no encoder. `resultOf`: undefined if it failed. */
  async #runAlone<Result>(
    job: RendererJob,
    orientation: 'landscape' | 'portrait',
    { background, files }: Pick<RenderTask, 'background' | 'files'>,
    resultOf: (outcome: ForkOutcome, durationMs: number) => Result | undefined,
    hear: (report: JobReport) => void = () => {},
  ): Promise<Result | ShortFailure> {
    const folder = join(this.#folder, `${++this.#attempts}`);
    try {
      const zygote = await this.#zygotes.get(orientation);
      const current: Occupied = { zygote, background, endReason: undefined };
      this.#current = current;
      const { clock } = this.#settings;
      const startedMs = clock.uptimeMs();
      const timer = clock.after(SHORT_TIMEOUT_MS, () => this.#end('timeout'));
      const outcome = await this.#forks
        .run(current, folder, job, hear, { files })
        .finally(() => timer.cancel());
      const durationMs = Math.round(clock.uptimeMs() - startedMs);
      const result = resultOf(outcome, durationMs);
      if (result) return result;
      // The kernel kills a check that goes on after its limit of CPU time.
      const { signal, reason, shortage } = outcome.end;
      const isKilled = job.kind === 'check' && signal === 'SIGKILL' && reason === null && shortage === null;
      const isOutOfTime = current.endReason === 'timeout' || signal === 'SIGXCPU' || isKilled;
      if (isOutOfTime && !outcome.verdict) {
        const said = job.kind === 'list' ? LISTED_TOO_SLOWLY : CHECKED_TOO_SLOWLY;
        const failure = { error: `${said} ${outcome.place.text}`.trimEnd(), failedBy: 'limit:time' as const };
        return { kind: 'failed', durationMs, ...withFinding(failure, outcome.place) };
      }
      const failure = this.#forks.failureOf(outcome, silentEnd, current.endReason, 0);
      // Only a scene that forges them sends reports of other jobs.
      if (!failure && outcome.verdict)
        return { kind: 'failed', durationMs, error: FORGED, failedBy: 'scene' };
      if (failure?.kind === 'failed' || failure?.kind === 'killed')
        return { ...failure, kind: 'failed', durationMs };
      return { kind: 'died', message: failure?.kind === 'died' ? failure.message : 'it ended unexpectedly' };
    } catch (error) {
      return { kind: 'died', message: (error as Error).message };
    } finally {
      this.#current = undefined;
      await this.#discard(folder);
      if (files !== undefined) await this.#discard(linksBeside(folder));
    }
  }

  /** Ends the running task by `timeout` when it has worked for `limitMs`. */
  #limitTime(limitMs: number, workedMs: () => number): Timer {
    const { clock } = this.#settings;
    const look = () => {
      const leftMs = limitMs - workedMs();
      if (leftMs <= 0) this.#end('timeout');
      else timer = clock.after(leftMs, look);
    };
    let timer = clock.after(limitMs, look);
    return { cancel: () => timer.cancel() };
  }

  /** Ends the running task and the zygotes. */
  async stop(): Promise<void> {
    this.#end('shutdown');
    await this.#zygotes.stop();
    await this.#discard(this.#folder);
  }

  /** The first reason counts. */
  #end(reason: EndReason): void {
    if (!this.#current) return;
    this.#current.endReason ??= reason;
    this.#current.zygote.killJob();
    this.#encoding?.end(reason);
  }

  #discard(folder: string): Promise<void> {
    return discardFolder(folder, this.#events.onLog);
  }
}

function hasDetails(result: RenderResult): result is Extract<RenderResult, { usage?: RenderUsage }> {
  return result.kind === 'rendered' || result.kind === 'failed' || result.kind === 'killed';
}
