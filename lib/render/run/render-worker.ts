import { join } from 'node:path';
import { freeSpaceOf, isLess, isOutOfSpace } from '../../files/disk.ts';
import { isShortage } from '../../files/shortage.ts';
import type {
  ListResult,
  ListTask,
  RenderMessage,
  RenderResult,
  RenderTask,
  RenderUsage,
  StopMessage,
  StopReason,
} from '../../model/render-task.ts';
import type { JobReport, LocalOutput, Play, WorkTimes } from '../../model/renderer-messages.ts';
import { MOST_OUTPUT, MOST_PLAYS } from '../../model/renderer-protocol.ts';
import { workTimes } from '../../model/work-times.ts';
import type { Timer } from '../../time/clock.ts';
import { Pulse } from '../counters/pulse.ts';
import { collectFiles, collectLocalFiles, publishedFiles } from '../end/collect.ts';
import { assertSameLayers } from '../end/inspector.ts';
import { discardFolder } from '../end/remove-folder.ts';
import { ZygoteDied } from '../start/zygote.ts';
import { endedBefore, silentEnd, silentInspection } from './end-messages.ts';
import {
  type EndReason,
  type ForkOutcome,
  Forks,
  JobInterrupted,
  JobNotRead,
  lengthOf,
  type Occupied,
} from './forks.ts';
import { inspectJob, listJob, renderJob } from './jobs-of-tasks.ts';
import { ProgressSender } from './progress-sender.ts';
import { StreamedInspection } from './streamed-inspection.ts';
import type { WorkerEvents, WorkerSettings } from './worker-settings.ts';
import { Zygotes } from './zygotes.ts';

/** A disk with less counts as full; the failed job may have deleted some of its files. */
const FULL_BELOW = { bytes: 1024 * 1024, files: 16 };

/** Time-out of a listing of scenes, which may use 5 seconds of processor time. */
const LIST_TIMEOUT_MS = 15_000;

/** Renders one task at a time in a fork of a zygote; another fork inspects its files. */
export class RenderWorker {
  readonly #settings: WorkerSettings;
  readonly #events: WorkerEvents;
  readonly #folder: string;
  readonly #forks: Forks;
  readonly #zygotes: Zygotes;
  readonly #pulse: Pulse;
  #attempts = 0;
  #current: Occupied | undefined;
  /** The one that runs beside the current render. */
  #inspection: StreamedInspection | undefined;

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
    let stopped: StopReason | undefined;
    const { clock } = this.#settings;
    let startedAtMs: number | undefined;
    const { workedMs, end } = this.#pulse.begin();
    let waitedMs = 0;
    const durationMs = () => (startedAtMs === undefined ? 0 : Math.round(workedMs() - waitedMs));
    const { previewIntervalMs } = task;
    const { limits } = this.#settings;
    const progress = new ProgressSender({ send, previewIntervalMs, nowMs: () => clock.uptimeMs() });
    const plays: Play[] = [];
    let output = '';
    let work: { reportedAtMs: number; scene: WorkTimes } | undefined;
    const hear = (report: JobReport) => {
      if (report.type === 'work') work ??= { reportedAtMs: clock.uptimeMs(), scene: report.ms };
      else if (report.type === 'plays') plays.push(...report.plays.slice(0, MOST_PLAYS - plays.length));
      else if (report.type === 'output') {
        const text = report.text.slice(0, MOST_OUTPUT - output.length);
        output += text;
        if (text !== '') send({ type: 'output', text });
      } else progress.hear(report);
    };
    const job = renderJob(task, this.#settings.limits);
    let keepOutFolder = false;
    let peakMemoryBytes: number | null = null;
    const withDetails = <Result extends RenderResult>(result: Result): Result => {
      if (startedAtMs === undefined || !hasDetails(result)) return result;
      const nowMs = clock.uptimeMs();
      const workMs =
        work && workTimes(work.scene, { totalMs: nowMs - startedAtMs, collectMs: nowMs - work.reportedAtMs });
      const stagesMs = progress.stagesMs(startedAtMs);
      return { ...result, output, usage: { stagesMs, ...(workMs && { workMs }), peakMemoryBytes } };
    };

    task.port.on('message', (message: StopMessage) => {
      stopped ??= message.reason;
      this.#end(stopped);
    });
    try {
      const zygote = await this.#zygotes.get(orientation);
      const inspector = await this.#zygotes.inspector();
      assertSameLayers(inspector, zygote);
      if (stopped) return { kind: 'stopped', durationMs: 0, reason: stopped };
      startedAtMs = clock.uptimeMs();
      waitedMs = workedMs();
      send({ type: 'started' });

      this.#current = { zygote, background: task.background, endReason: undefined };
      const current = this.#current;
      const timer = this.#limitTime(limits.timeoutMs, durationMs);
      try {
        this.#forks.makeFolder(jobFolder);
        // Not beside a scene that sees other processes.
        const streamed =
          task.local || !zygote.layers.includes('namespaces')
            ? undefined
            : new StreamedInspection({
                forks: this.#forks,
                inspector,
                background: task.background,
                folder: outFolder,
                job: inspectJob(job, job.limits),
                onRefused: () => zygote.killJob(),
              });
        this.#inspection = streamed;
        const onReport = (report: JobReport) => {
          if (report.type === 'stage' && report.stage === 'rendering') streamed?.begin();
          hear(report);
        };
        const rendered = await this.#forks.run(current, jobFolder, job, onReport, streamed?.onStream);
        peakMemoryBytes = rendered.end.memoryBytes;
        const failure = (await streamed?.hasRefused())
          ? undefined
          : this.#forks.failureOf(rendered, silentEnd, current.endReason, durationMs());
        if (failure)
          return withDetails(await this.#orDiskFull(failure, rendered.end.reason ?? current.endReason));
        progress.enter('checking', lengthOf(rendered));
        let inspected: ForkOutcome;
        if (streamed) inspected = await streamed.outcome();
        else {
          this.#forks.makeFolder(outFolder);
          const isInspected = !task.local || task.local.format === 'mp4';
          if (task.local && !isInspected) {
            const localFiles = await collectLocalFiles(jobFolder, outFolder, limits, { withCaptions: true });
            keepOutFolder = true;
            return withDetails(localRender(task.local, localFiles, outFolder, rendered, durationMs()));
          }
          const collected = await collectFiles(jobFolder, outFolder, limits);
          if (collected)
            return withDetails(
              await this.#orDiskFull({ kind: 'failed', durationMs: durationMs(), ...collected }),
            );
          // A local scene may have set the size itself.
          const made = task.local && rendered.verdict?.type === 'done' ? rendered.verdict : job;
          current.zygote = inspector;
          inspected = await this.#forks.run(current, outFolder, inspectJob(made, job.limits), () => {});
        }
        const defect = this.#forks.failureOf(inspected, silentInspection, current.endReason, durationMs());
        // No scene can kill an inspection.
        if (defect?.kind === 'killed') throw new Error(endedBefore(inspected.end));
        if (defect)
          return withDetails(await this.#orDiskFull(defect, inspected.end.reason ?? current.endReason));
        const files = await publishedFiles(outFolder);
        if (!files) throw new Error('an inspection left no files');
        // After the inspection, which must not be able to change them.
        const localFiles = task.local
          ? await collectLocalFiles(jobFolder, outFolder, limits, { withCaptions: false })
          : [];
        keepOutFolder = true;
        return withDetails({
          kind: 'rendered',
          durationMs: durationMs(),
          ...lengthOf(inspected),
          files,
          localFiles,
          plays,
          folder: outFolder,
        });
      } finally {
        timer.cancel();
        await this.#inspection?.close();
        this.#inspection = undefined;
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
      await this.#discard(jobFolder);
      if (!keepOutFolder) await this.#discard(outFolder);
    }
  }

  /**
   * Converts a failure to `disk_full` when the disk is full, unless the job was ended for a `reason`. Called before the
   * job's files are removed.
   */
  async #orDiskFull(failure: RenderResult, reason?: string): Promise<RenderResult> {
    if (reason !== undefined) return failure;
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
  async list({ listScenesOf: code, background }: ListTask): Promise<ListResult> {
    const folder = join(this.#folder, `${++this.#attempts}`);
    const job = listJob(code, this.#settings.limits);
    try {
      const current: Occupied = {
        zygote: await this.#zygotes.get('landscape'),
        background,
        endReason: undefined,
      };
      this.#current = current;
      const { clock } = this.#settings;
      const startedMs = clock.uptimeMs();
      const timer = clock.after(LIST_TIMEOUT_MS, () => this.#end('timeout'));
      const outcome = await this.#forks.run(current, folder, job, () => {}).finally(() => timer.cancel());
      const durationMs = Math.round(clock.uptimeMs() - startedMs);
      if (outcome.verdict?.type === 'scenes')
        return { kind: 'listed', scenes: outcome.verdict.names, durationMs };
      if (current.endReason === 'timeout' || outcome.end.signal === 'SIGXCPU') {
        const error = `The code takes too long before it defines its scenes. ${outcome.place}`.trimEnd();
        return { kind: 'failed', error, durationMs };
      }
      const failure = this.#forks.failureOf(outcome, silentEnd, current.endReason, 0);
      if (failure?.kind === 'failed') return { kind: 'failed', error: failure.error, durationMs };
      return { kind: 'died', message: failure?.kind === 'died' ? failure.message : 'it ended unexpectedly' };
    } catch (error) {
      return { kind: 'died', message: (error as Error).message };
    } finally {
      this.#current = undefined;
      await this.#discard(folder);
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
    this.#inspection?.end(reason);
  }

  #discard(folder: string): Promise<void> {
    return discardFolder(folder, this.#events.onLog);
  }
}

function hasDetails(result: RenderResult): result is Extract<RenderResult, { usage?: RenderUsage }> {
  return result.kind === 'rendered' || result.kind === 'failed' || result.kind === 'killed';
}

/** The result of a local render in another format than MP4, whose files are not inspected. */
function localRender(
  { format }: LocalOutput,
  localFiles: { name: string; path: string }[],
  folder: string,
  rendered: ForkOutcome,
  durationMs: number,
): RenderResult {
  const made = format === 'png-sequence' ? 'frames.tar' : `output.${format}`;
  if (!localFiles.some(({ name }) => name === made))
    return {
      kind: 'failed',
      durationMs,
      error: 'The scene left no file, or one that is larger than the limit.',
      failedBy: 'scene',
    };
  return { kind: 'rendered', durationMs, ...lengthOf(rendered), files: [], localFiles, plays: [], folder };
}
