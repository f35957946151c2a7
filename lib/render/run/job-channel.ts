import { chownSync, closeSync, openSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { readLines } from './line-reader.ts';
import { type JobReport, LONGEST_LINE_BYTES, parseJobReport, type RendererJob } from './protocol.ts';

const SOCKET_NAME = 'channel';
// A renderer says some ten lines a second. Whoever says far more has to wait until they are read.
const MOST_LINES = 1000;
const PACE_MS = 1000;

/**
 * The way between a worker and one fork: a Unix socket in the job's folder that takes exactly one connection.
 * Its name is gone before the fork is told what to run, so nothing that the scene starts can come in by it.
 */
export class JobChannel {
  readonly #server: Server;
  readonly #folderFd: number;
  #socket: Socket | undefined;
  #pacing: NodeJS.Timeout | undefined;
  #over = false;

  private constructor(server: Server, folderFd: number) {
    this.#server = server;
    this.#folderFd = folderFd;
  }

  /** Listens in `folder`, owned by `uid` when given; hands the job to whoever connects, then reads its reports. */
  static async open(options: {
    folder: string;
    uid: number | undefined;
    job: RendererJob;
    onReport: (report: JobReport) => void;
  }): Promise<JobChannel> {
    const server = createServer();
    // A socket's path has at most 107 bytes and a data folder may be deep: go by the folder's descriptor.
    const folderFd = openSync(options.folder, 'r');
    const path = `/proc/self/fd/${folderFd}/${SOCKET_NAME}`;
    const channel = new JobChannel(server, folderFd);
    server.once('connection', (socket) => {
      server.close(); // Removes its name, too.
      channel.#talk(socket, options.job, options.onReport);
    });
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(path, resolve);
      });
      if (options.uid !== undefined) chownSync(path, options.uid, options.uid);
    } catch (error) {
      channel.close();
      throw error;
    }
    return channel;
  }

  /** The socket's path for the fork, which goes there from the folder. */
  static pathIn(folder: string): string {
    return join(folder, SOCKET_NAME);
  }

  /** The fork has connected: it has been, or is being, given its job. */
  get connected(): boolean {
    return this.#socket !== undefined;
  }

  /** Why no connection could be taken now, where the reason is the service's own. */
  shortage(): unknown {
    try {
      closeSync(openSync('/dev/null', 'r'));
      return undefined;
    } catch (error) {
      return error;
    }
  }

  /** Resolves when everything that the fork said has been read. After the job's end. */
  async drained(): Promise<void> {
    const socket = this.#socket;
    this.#over = true;
    if (!socket || socket.closed) return;
    socket.resume();
    await new Promise<void>((resolve) => socket.once('close', resolve));
  }

  close(): void {
    clearTimeout(this.#pacing);
    this.#server.close();
    this.#socket?.destroy();
    closeSync(this.#folderFd);
  }

  #talk(socket: Socket, job: RendererJob, onReport: (report: JobReport) => void): void {
    this.#socket = socket;
    // The other end dies with its job: a reset is an end like any other.
    socket.on('error', () => {});
    let sinceMs = performance.now();
    let lines = 0;
    readLines(socket, LONGEST_LINE_BYTES, (line) => {
      if (performance.now() - sinceMs > PACE_MS) {
        sinceMs = performance.now();
        lines = 0;
      }
      lines += 1;
      if (lines === MOST_LINES && !this.#over) {
        socket.pause();
        this.#pacing = setTimeout(() => socket.resume(), PACE_MS);
      }
      const report = parseJobReport(line);
      if (report) onReport(report);
    });
    // Lone surrogates in the source are escaped by JSON.stringify, so the line is clean UTF-8.
    socket.write(`${JSON.stringify(job)}\n`);
  }
}
