import { chownSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { freeBytesOf } from '../../data-folder/spare-room.ts';
import { isShortage } from '../../shortage.ts';
import { collectFiles, filesOf } from '../end/collect.ts';
import { assertSameWalls, Inspector, publishedFiles, startZygote } from '../end/inspector.ts';
import { discardFolder } from '../end/remove-folder.ts';
import type { ThreadCounters } from '../pool/thread-counters.ts';
import { SandboxRefused, type SandboxStatus, sandboxStatus } from '../sandbox/sandbox.ts';
import { SandboxTrial } from '../sandbox/sandbox-trial.ts';
import { type Launcher, type RendererRole, seenInWork, uidOf } from '../start/launcher.ts';
import { openToReaders, studioState } from '../start/studio.ts';
import { identityAt } from '../start/work-folder.ts';
import { type Zygote, ZygoteDied } from '../start/zygote.ts';
import { JobChannel } from './job-channel.ts';
import type { RenderLimits } from './limits.ts';
import { ProgressSender } from './progress-sender.ts';
import type { JobEnded, JobReport, RendererJob, ZygoteReady } from './protocol.ts';
import type {
  ListResult,
  ListTask,
  RenderMessage,
  RenderResult,
  RenderTask,
  StopMessage,
  StopReason,
} from './render-task.ts';
import { endedBefore, silentEnd, silentInspection, tooSlow } from './words.ts';

export interface WorkerSettings {
  /** Tells this worker's folder and user id from the others'. */
  index: number;
  /** How many there are. */
  workers: number;
  /** What it shares with the others. */
  threads: ThreadCounters;
  launcher: Launcher;
  limits: RenderLimits;
  /** Below it, each worker has a folder of its own. */
  workFolder: string;
}

export interface WorkerEvents {
  /** A zygote is warm: this worker can render. */
  onReady: (ready: ZygoteReady, sandbox: SandboxStatus) => void;
  /** A zygote died or could not be started. */
  onUnready: (message: string) => void;
  /** Nothing is rendered, because a scene would not stay in the sandbox. */
  onRefused: (message: string) => void;
  onLog: (line: string) => void;
}

/** A disk with less room than this is full: what failed may have taken back a part of what it wrote. */
const FULL_BELOW_BYTES = 1024 * 1024;
/** Captions, twice, and a thumbnail. */
const BESIDE_VIDEO_BYTES = 64 * 1024 * 1024;
const AGAIN_FIRST_MS = 1_000;
const AGAIN_LONGEST_MS = 60_000;
const OWN_RENDER_TIMEOUT_MS = 30_000;
const OWN_SIZE = { widthPx: 64, heightPx: 36, fps: 1, previewIntervalMs: 0 } as const;
const VERDICTS = new Set<JobReport['type']>(['done', 'inspected', 'scenes', 'failed']);

type Orientation = 'landscape' | 'portrait';

/** Why a job is being ended before its time. */
type EndReason = StopReason | 'timeout';

/** A zygote with a job on it, or about to have one. */
interface Occupied {
  zygote: Zygote;
  background: boolean;
  endReason: EndReason | undefined;
}

/** A zygote, or one that is on its way, and what it knows of the studio's folder. */
interface StartedZygote {
  zygote: Promise<Zygote>;
  studio: string | undefined;
  /** The folder that it works in, as soon as that is made; another one with the same name is none that it sees. */
  folder?: string;
}

/** A fork ended, or its zygote died, before it was given what it was to do. */
class Untried extends Error {
  override readonly name = 'Untried';
}

/** What one fork did. */
interface ForkOutcome {
  end: JobEnded;
  /** It came as far as hostile bytes: a render says something before it reads the scene. */
  begun: boolean;
  /** Its last word: the first `done`, `inspected` or `failed` that it said. */
  verdict: Extract<JobReport, { type: 'done' | 'inspected' | 'scenes' | 'failed' }> | undefined;
}

/**
 * Renders one task at a time with a zygote of its own: one for landscape, and one for portrait from the first
 * portrait job on, because Manim fixes some ranges when it is imported.
 */
export class RenderWorker {
  readonly #settings: WorkerSettings;
  readonly #events: WorkerEvents;
  readonly #folder: string;
  readonly #zygotes = new Map<Orientation, StartedZygote>();
  /** Those that others have taken the place of. */
  readonly #retired = new WeakSet<Zygote>();
  readonly #inspector: Inspector;
  readonly #trial: SandboxTrial;
  #warmZygotes = 0;
  /** What was said last of a warm zygote, to be said again when the inspector is back. */
  #lastReady: [ZygoteReady, SandboxStatus] | undefined;
  #attempts = 0;
  #current: Occupied | undefined;
  #stopping = false;
  /** After a start that failed: how long until the next. */
  #againInMs = AGAIN_FIRST_MS;
  #again: NodeJS.Timeout | undefined;

  constructor(settings: WorkerSettings, events: WorkerEvents) {
    this.#settings = settings;
    this.#events = events;
    this.#folder = join(settings.workFolder, `w${settings.index}`);
    this.#trial = new SandboxTrial(settings, this.#folder);
    this.#inspector = new Inspector({
      start: () => this.#startProcess('inspector'),
      onDeath: (reason) => {
        if (this.#stopping) return;
        this.#events.onUnready(reason);
        void this.#replaceInspector();
      },
    });
  }

  /** Zygotes that are warm now, and of use: what they render can be looked at. */
  get warm(): number {
    return this.#inspector.alive ? this.#warmZygotes : 0;
  }

  /** Starts the landscape zygote before it is needed. */
  warmUp(): void {
    this.#zygote('landscape').catch(() => {}); // Reported, and tried again.
  }

  /** Renders a task. Never rejects for anything that a scene or the renderer does. */
  async render(task: RenderTask): Promise<RenderResult> {
    const send = (message: RenderMessage) => task.port.postMessage(message);
    const orientation = task.heightPx > task.widthPx ? 'portrait' : 'landscape';
    const attempt = `${++this.#attempts}`;
    const jobFolder = join(this.#folder, attempt);
    const outFolder = join(this.#folder, `${attempt}.out`);
    let stopped: StopReason | undefined;
    let startedAtMs: number | undefined;
    const durationMs = () => (startedAtMs === undefined ? 0 : Math.round(performance.now() - startedAtMs));
    const { previewIntervalMs } = task;
    const progress = new ProgressSender({ send, previewIntervalMs, nowMs: () => performance.now() });
    const job = renderJob(task, this.#settings.limits);
    let keepOutFolder = false;

    task.port.on('message', (message: StopMessage) => {
      stopped ??= message.reason;
      this.#end(stopped);
    });
    try {
      const zygote = await this.#zygote(orientation);
      const inspector = await this.#inspector.ready();
      assertSameWalls(inspector, zygote);
      if (stopped) return { kind: 'stopped', durationMs: 0, reason: stopped };
      startedAtMs = performance.now();
      send({ type: 'started' });

      this.#current = { zygote, background: task.background, endReason: undefined };
      const current = this.#current;
      const timer = setTimeout(() => this.#end('timeout'), this.#settings.limits.timeoutMs);
      try {
        const rendered = await this.#fork(current, jobFolder, job, (report) => progress.hear(report));
        const failure = this.#failureOf(rendered, silentEnd, current.endReason, durationMs());
        if (failure) return await this.#orNoRoom(failure, rendered.end.reason ?? current.endReason);
        progress.enter('checking', lengthOf(rendered));
        await this.#makeFolder(outFolder);
        const collected = await collectFiles(jobFolder, outFolder, this.#settings.limits);
        if (collected.problem !== undefined)
          return await this.#orNoRoom({ kind: 'failed', durationMs: durationMs(), error: collected.problem });

        const { widthPx, heightPx, fps, limits } = job;
        const inspection = { kind: 'inspect', widthPx, heightPx, fps, limits } as const;
        current.zygote = inspector;
        const inspected = await this.#fork(current, outFolder, inspection, () => {});
        const defect = this.#failureOf(inspected, silentInspection, current.endReason, durationMs());
        if (defect) return await this.#orNoRoom(defect, inspected.end.reason ?? current.endReason);
        const files = await publishedFiles(outFolder);
        if (!files) throw new ZygoteDied('an inspection left no files');
        keepOutFolder = true;
        return {
          kind: 'rendered',
          durationMs: durationMs(),
          ...lengthOf(inspected),
          files,
          folder: outFolder,
        };
      } finally {
        clearTimeout(timer);
      }
    } catch (error) {
      if (stopped) return { kind: 'stopped', durationMs: durationMs(), reason: stopped };
      if (startedAtMs === undefined || error instanceof Untried || isShortage(error)) {
        const { message } = error as Error;
        return { kind: 'unavailable', durationMs: 0, message, isShortage: isShortage(error) };
      }
      return await this.#orNoRoom({
        kind: 'died',
        durationMs: durationMs(),
        message: (error as Error).message,
      });
    } finally {
      this.#current = undefined;
      task.port.close();
      await this.#discard(jobFolder);
      if (!keepOutFolder) await this.#discard(outFolder);
    }
  }

  /**
   * What fails while the disk is full isn't the scene's fault, nor the renderer's, unless it was ended for a `reason`. Asked
   * before the files of the job are removed.
   */
  async #orNoRoom(failure: RenderResult, reason?: string): Promise<RenderResult> {
    if (reason !== undefined) return failure;
    if (![...this.#zygotes.values()].every((started) => this.#hasFolder(started))) {
      const { durationMs } = failure;
      return { kind: 'died', durationMs, message: 'the folder that it worked in was removed' };
    }
    const freeBytes = await freeBytesOf(this.#settings.workFolder).catch(() => Number.POSITIVE_INFINITY);
    return freeBytes < FULL_BELOW_BYTES ? { kind: 'no_room', durationMs: failure.durationMs } : failure;
  }

  /** Lists the scenes of a source by running it in the sandbox as a render would. */
  async list({ listScenesOf: code }: ListTask): Promise<ListResult> {
    const folder = join(this.#folder, `${++this.#attempts}`);
    const job: RendererJob = { kind: 'list', code, ...OWN_SIZE, limits: this.#settings.limits };
    try {
      const current: Occupied = {
        zygote: await this.#zygote('landscape'),
        background: false,
        endReason: undefined,
      };
      this.#current = current;
      const timer = setTimeout(() => this.#end('timeout'), OWN_RENDER_TIMEOUT_MS);
      const outcome = await this.#fork(current, folder, job, () => {}).finally(() => clearTimeout(timer));
      if (outcome.verdict?.type === 'scenes') return { kind: 'listed', scenes: outcome.verdict.names };
      if (current.endReason === 'timeout') {
        return { kind: 'failed', error: 'The code takes too long before it defines its scenes.' };
      }
      const failure = this.#failureOf(outcome, silentEnd, current.endReason, 0);
      if (failure?.kind === 'failed') return { kind: 'failed', error: failure.error };
      return { kind: 'died', message: failure?.kind === 'died' ? failure.message : 'it ended unexpectedly' };
    } catch (error) {
      return { kind: 'died', message: (error as Error).message };
    } finally {
      this.#current = undefined;
      await this.#discard(folder);
    }
  }

  /** Ends what runs, and the zygotes. */
  async stop(): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#again);
    this.#end('shutdown');
    const started = await Promise.allSettled([...this.#zygotes.values()].map(({ zygote }) => zygote));
    await Promise.all(
      started.map((result) => (result.status === 'fulfilled' ? result.value.stop() : undefined)),
    );
    await this.#inspector.stop();
    await this.#discard(this.#folder);
  }

  /** The first reason counts. */
  #end(reason: EndReason): void {
    if (!this.#current) return;
    this.#current.endReason ??= reason;
    this.#current.zygote.killJob();
  }

  async #fork(
    current: Occupied,
    folder: string,
    job: RendererJob,
    onReport: (report: JobReport) => void,
  ): Promise<ForkOutcome> {
    const { memoryBytes, diskBytes, files, fileSizeBytes } = this.#settings.limits;
    let verdict: ForkOutcome['verdict'];
    let begun = job.kind === 'inspect';
    await this.#makeFolder(folder);
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
  #failureOf(
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

  /** The zygote of an orientation; one that is dead, or knows an earlier state of the studio's folder, is replaced. */
  #zygote(orientation: Orientation): Promise<Zygote> {
    let studio: string | undefined;
    try {
      studio = this.#studioState();
    } catch (error) {
      this.#startAgain(orientation);
      return Promise.reject(error);
    }
    const known = this.#zygotes.get(orientation);
    if (known && known.studio === studio && this.#hasFolder(known)) return known.zygote;
    const onFolder = (folder: string) => {
      started.folder = folder;
    };
    const zygote = known ? this.#replace(known, orientation, onFolder) : this.#start(orientation, onFolder);
    const started: StartedZygote = { zygote, studio };
    this.#zygotes.set(orientation, started);
    zygote.catch(() => {
      if (this.#zygotes.get(orientation) === started) this.#zygotes.delete(orientation);
    });
    return zygote;
  }

  #hasFolder({ folder }: StartedZygote): boolean {
    return folder === undefined || folder === identityAt(this.#folder);
  }

  #studioState(): string | undefined {
    const { studio, firstUid } = this.#settings.launcher;
    if (studio?.closed && firstUid !== undefined) openToReaders(studio);
    return studio && studioState(studio);
  }

  async #replace(
    known: StartedZygote,
    orientation: Orientation,
    onFolder: (folder: string) => void,
  ): Promise<Zygote> {
    const zygote = await known.zygote.catch(() => undefined);
    if (zygote) {
      this.#retired.add(zygote);
      await zygote.stop();
      await this.#inspector.stop(); // It may know an earlier folder, too.
    }
    return this.#start(orientation, onFolder);
  }

  async #start(orientation: Orientation, onFolder: (folder: string) => void): Promise<Zygote> {
    try {
      if (this.#stopping) throw new ZygoteDied('the service is stopping');
      await this.#makeFolder(this.#folder);
      onFolder(identityAt(this.#folder) ?? '');
      const [zygote, ready] = await this.#startWithInspector(orientation);
      if (this.#stopping) {
        await zygote.stop();
        throw new ZygoteDied('the service is stopping');
      }
      const sandbox = sandboxStatus(this.#settings.launcher, ready);
      await this.#trySandbox(zygote, sandbox);
      zygote.onDeath = (reason) => {
        this.#warmZygotes -= 1;
        if (this.#retired.has(zygote)) return;
        this.#zygotes.delete(orientation);
        if (this.#stopping) return;
        this.#events.onUnready(reason);
        this.#zygote(orientation).catch(() => {}); // Reported, and tried again.
      };
      this.#warmZygotes += 1;
      this.#lastReady = [ready, sandbox];
      this.#againInMs = AGAIN_FIRST_MS;
      this.#events.onReady(ready, sandbox);
      return zygote;
    } catch (error) {
      if (error instanceof SandboxRefused) this.#events.onRefused(error.message);
      else if (!this.#stopping) this.#events.onUnready((error as Error).message);
      this.#startAgain(orientation);
      throw error;
    }
  }

  /** Both at the same time; a zygote is of no use without. */
  async #startWithInspector(orientation: Orientation): Promise<[Zygote, ZygoteReady]> {
    const inspector = this.#inspector.ready();
    const [zygote] = await Promise.allSettled([this.#startProcess(orientation), inspector]);
    if (zygote.status === 'rejected') throw zygote.reason;
    try {
      assertSameWalls(await inspector, zygote.value[0]);
      return zygote.value;
    } catch (error) {
      await zygote.value[0].stop();
      throw error;
    }
  }

  async #startProcess(role: RendererRole): Promise<[Zygote, ZygoteReady]> {
    await this.#makeFolder(this.#folder);
    const { onLog } = this.#events;
    return startZygote(this.#settings, { workFolder: this.#folder, role, onLog });
  }

  /** Starts an inspector unless there is one; one that can't be started now is started after a while. */
  async #replaceInspector(): Promise<void> {
    if (this.#inspector.alive) return;
    try {
      await this.#inspector.ready();
      if (this.warm > 0 && this.#lastReady) this.#events.onReady(...this.#lastReady);
    } catch (error) {
      if (this.#stopping) return;
      this.#events.onUnready((error as Error).message);
      this.#startAgain('landscape');
    }
  }

  /** Jobs are given out only to those who can take them, so nothing else would. */
  #startAgain(orientation: Orientation): void {
    if (this.#stopping) return;
    clearTimeout(this.#again);
    const start = () => this.#zygote(orientation).then(() => this.#replaceInspector());
    this.#again = setTimeout(() => start().catch(() => {}), this.#againInMs);
    this.#againInMs = Math.min(2 * this.#againInMs, AGAIN_LONGEST_MS);
  }

  /** Attacks a new zygote's sandbox. A zygote whose sandbox doesn't hold is ended, unless that is accepted. */
  async #trySandbox(zygote: Zygote, sandbox: SandboxStatus): Promise<void> {
    const refusal = await this.#trial
      .refusalOf(sandbox, (code, className) => this.#errorOf(zygote, code, className))
      .catch(async (error: unknown) => {
        await zygote.stop();
        throw error;
      });
    if (!refusal) return;
    if (this.#settings.launcher.insecureNoSandbox) {
      this.#events.onLog(`Rendering without a sandbox that holds, as told. ${refusal.message}`);
      return;
    }
    await zygote.stop();
    throw refusal;
  }

  /** Runs a small render of our own: its error, null when it has none, undefined when it says nothing. */
  async #errorOf(zygote: Zygote, code: string, className: string): Promise<string | undefined | null> {
    const folder = join(this.#folder, className.toLowerCase());
    const job: RendererJob = { kind: 'render', code, className, ...OWN_SIZE, limits: this.#settings.limits };
    const occupied: Occupied = { zygote, background: false, endReason: undefined };
    const timer = setTimeout(() => zygote.killJob(), OWN_RENDER_TIMEOUT_MS);
    try {
      const { verdict, begun, end } = await this.#fork(occupied, folder, job, () => {});
      if (!begun) throw new ZygoteDied(endedBefore(end));
      return verdict?.type === 'failed' ? verdict.error : verdict && null;
    } finally {
      clearTimeout(timer);
      await this.#discard(folder);
    }
  }

  #discard(folder: string): Promise<void> {
    return discardFolder(folder, this.#events.onLog);
  }

  async #makeFolder(folder: string): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const uid = uidOf(this.#settings.launcher, this.#settings.index);
    if (uid !== undefined) chownSync(folder, uid, uid);
  }
}

function renderJob(task: RenderTask, limits: RenderLimits): RendererJob {
  const { code, className, widthPx, heightPx, previewIntervalMs } = task;
  // Larger numbers lose digits on the way through JSON; no renderer draws that many frames anyway.
  const fps = Math.min(task.fps, Number.MAX_SAFE_INTEGER);
  return { kind: 'render', code, className, widthPx, heightPx, fps, previewIntervalMs, limits };
}

/** Length of the video, as the fork said. */
function lengthOf({ verdict }: ForkOutcome): { frames: number; seconds: number } {
  if (verdict?.type !== 'done' && verdict?.type !== 'inspected') return { frames: 0, seconds: 0 };
  return { frames: verdict.frames, seconds: verdict.seconds };
}

/** What was left, what is published of it, and no more than some megabytes besides. */
function roomForInspection({ outputBytes }: RenderLimits): number {
  return 2 * outputBytes + BESIDE_VIDEO_BYTES;
}
