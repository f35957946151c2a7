import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { readLines } from '../../base/line-reader.ts';
import type { JobReport, RenderEnded, RendererJob, SpeechAnswer } from '../../model/renderer-messages.ts';
import { LONGEST_LINE_BYTES, parseJobReport } from '../../model/renderer-protocol.ts';
import type { Clock, Timer } from '../../time/clock.ts';
import type { Processes } from '../start/processes.ts';

const SOCKET_NAME = 'channel';
// A renderer sends about ten lines a second; reading far more than that is throttled.
const MOST_LINES = 1000;
const PACE_MS = 1000;

/**
 * The channel between a worker and a fork: a Unix socket in the job's folder that accepts one connection. Its name
 * is removed before the job is sent, so no process of the scene can connect.
 */
export class JobChannel {
  #listening: { close(): void } | undefined;
  #socket: Duplex | undefined;
  readonly #clock: Clock;
  #pacing: Timer | undefined;
  #over = false;

  private constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Listens in `folder`, owned by `uid` when given; sends the job to the first client, then reads its reports. */
  static async open(options: {
    folder: string;
    uid: number | undefined;
    job: RendererJob;
    clock: Clock;
    processes: Processes;
    onReport: (report: JobReport) => void;
    /** Called when the job has been or is being sent, with what sends more. */
    onConnected?: ((tell: (message: RenderEnded | SpeechAnswer) => void) => void) | undefined;
  }): Promise<JobChannel> {
    const { folder, uid, processes } = options;
    const channel = new JobChannel(options.clock);
    const onConnection = (socket: Duplex) => {
      channel.#talk(socket, options.job, options.onReport);
      options.onConnected?.((message) => socket.write(`${JSON.stringify(message)}\n`));
    };
    channel.#listening = await processes.accept({ folder, name: SOCKET_NAME, uid, onConnection });
    return channel;
  }

  /** The path of the socket, for the fork. */
  static pathIn(folder: string): string {
    return join(folder, SOCKET_NAME);
  }

  /** Whether the fork has connected, and its job has been or is being sent. */
  get connected(): boolean {
    return this.#socket !== undefined;
  }

  /** The error when the service cannot accept connections for lack of file descriptors. */
  shortage(): unknown {
    try {
      closeSync(openSync('/dev/null', 'r'));
      return undefined;
    } catch (error) {
      return error;
    }
  }

  /** Resolves when all reports of the fork have been read. Call it after the job's end. */
  async drained(): Promise<void> {
    const socket = this.#socket;
    this.#over = true;
    if (!socket || socket.closed) return;
    socket.resume();
    await new Promise<void>((resolve) => socket.once('close', resolve));
  }

  close(): void {
    this.#pacing?.cancel();
    this.#listening?.close();
    this.#socket?.destroy();
  }

  #talk(socket: Duplex, job: RendererJob, onReport: (report: JobReport) => void): void {
    this.#socket = socket;
    // A reset is a normal end: the peer dies with its job.
    socket.on('error', () => {});
    let sinceMs = this.#clock.uptimeMs();
    let lines = 0;
    readLines(socket, LONGEST_LINE_BYTES, (line) => {
      if (this.#clock.uptimeMs() - sinceMs > PACE_MS) {
        sinceMs = this.#clock.uptimeMs();
        lines = 0;
      }
      lines += 1;
      if (lines === MOST_LINES && !this.#over) {
        socket.pause();
        this.#pacing = this.#clock.after(PACE_MS, () => socket.resume());
      }
      const report = parseJobReport(line);
      if (report) onReport(report);
    });
    // Lone surrogates in the source are escaped by JSON.stringify, so the line is clean UTF-8.
    socket.write(`${JSON.stringify(job)}\n`);
  }
}
