import { PassThrough } from 'node:stream';
import { tooManyRequests } from '@hapi/boom';
import type { Delivery, Job, RenderProgress, RenderService } from '../../lib/index.ts';
import { shownDecimal } from './format.ts';
import { inLanguage, type Language, language, texts } from './language/texts.ts';
import type { Sessions, Viewer } from './sign-in/sessions.ts';

/** Also checks whether the session still lives. */
const HEARTBEAT_MS = 25_000;

const MOST_UNREAD_BYTES = 64 * 1024;

/** Maximum streams per account; more than any user keeps open. */
const MOST_STREAMS = 100;

interface Listener {
  /** As of the last heartbeat: roles change. */
  viewer: Viewer;
  /** As the page chose it that reads the stream. */
  language: Language;
  stream: PassThrough;
}

/** Sends changes of jobs to open pages as server-sent events: to members those of their own jobs. */
export class LiveEvents {
  readonly #service: RenderService;
  readonly #sessions: Sessions;
  readonly #listeners = new Set<Listener>();
  /** Owners of running jobs; events of progress don't name them. */
  readonly #owners = new Map<string, Promise<string | undefined>>();
  /** The newest picture of each running job. */
  readonly #pictures = new Map<string, Uint8Array>();
  #heartbeat: NodeJS.Timeout | undefined;
  #changedAtMs: number | undefined;

  constructor({ service, sessions }: { service: RenderService; sessions: Sessions }) {
    this.#service = service;
    this.#sessions = sessions;
    service.on('job', this.#onJob);
    service.on('remoteJob', this.#onJob);
    service.on('delivery', this.#onDelivery);
    service.on('progress', this.#onProgress);
    service.on('preview', this.#onPreview);
  }

  /** The number of open streams. */
  get size(): number {
    return this.#listeners.size;
  }

  /** A stream of events for a person. Error: 429 with too many of them. */
  open(viewer: Viewer): PassThrough {
    let own = 0;
    for (const listener of this.#listeners) if (listener.viewer.accountId === viewer.accountId) own += 1;
    if (own >= MOST_STREAMS) throw tooManyRequests(texts().errors.tooManyPages);
    const listener = { viewer, language: language(), stream: new PassThrough() };
    this.#listeners.add(listener);
    this.#heartbeat ??= setInterval(() => void this.beat(), HEARTBEAT_MS).unref();
    listener.stream.once('close', () => this.#close(listener));
    listener.stream.write('retry: 2000\n\n');
    if (this.#changedAtMs !== undefined) {
      const agoMs = Math.floor(performance.now() - this.#changedAtMs);
      listener.stream.write(`event: changed\ndata: ${agoMs}\n\n`);
    }
    return listener.stream;
  }

  /** The newest picture of a running job, a JPEG. */
  pictureOf(jobId: string): Uint8Array | undefined {
    return this.#pictures.get(jobId);
  }

  stop(): void {
    this.#service.off('job', this.#onJob);
    this.#service.off('remoteJob', this.#onJob);
    this.#service.off('delivery', this.#onDelivery);
    this.#service.off('progress', this.#onProgress);
    this.#service.off('preview', this.#onPreview);
    for (const listener of this.#listeners) this.#close(listener);
  }

  #close(listener: Listener): void {
    this.#listeners.delete(listener);
    listener.stream.end();
    if (this.#listeners.size > 0) return;
    clearInterval(this.#heartbeat);
    this.#heartbeat = undefined;
  }

  readonly #onJob = ({ jobId, owner, status }: Pick<Job, 'jobId' | 'owner' | 'status'>) => {
    this.#changedAtMs = performance.now();
    if (status === 'running') this.#owners.set(jobId, Promise.resolve(owner));
    // Another process may announce that it queued the job after the render has begun here.
    else if (status !== 'queued') {
      this.#owners.delete(jobId);
      this.#pictures.delete(jobId);
    }
    this.#send(owner, 'job', { jobId, status });
  };

  /** Attempts of this process; pages ask for those of others. */
  readonly #onDelivery = ({ owner, deliveryId }: Pick<Delivery, 'owner' | 'deliveryId'>) => {
    this.#send(owner, 'delivery', { deliveryId });
  };

  readonly #onProgress = async (jobId: string, progress: RenderProgress) => {
    if (this.size === 0) return;
    // Keeps asking for that of jobs on other machines, while pages are open.
    this.#service.progress(jobId);
    const owner = await this.#ownerOf(jobId);
    if (owner === undefined) return;
    this.#send(owner, 'progress', () => ({
      jobId,
      stage: progress.stage,
      text: shownProgress(progress),
    }));
  };

  /** Pages load the picture if they show one. */
  readonly #onPreview = async (jobId: string, jpeg: Uint8Array) => {
    const owner = await this.#ownerOf(jobId);
    if (owner === undefined || !this.#owners.has(jobId)) return;
    this.#pictures.set(jobId, jpeg);
    this.#send(owner, 'picture', { jobId });
  };

  /** Reads the owner of a job whose render began before this process, or whose beginning was not announced. */
  #ownerOf(jobId: string): Promise<string | undefined> {
    const known = this.#owners.get(jobId);
    if (known !== undefined) return known;
    const owner = this.#service.get(jobId).then(
      (job) => (job.status === 'running' ? job.owner : undefined),
      () => undefined,
    );
    this.#owners.set(jobId, owner);
    void owner.then((found) => {
      if (found === undefined && this.#owners.get(jobId) === owner) this.#owners.delete(jobId);
    });
    return owner;
  }

  /** `data`: or what makes it, in the language of each page. */
  #send(owner: string, event: string, data: object | (() => object)): void {
    for (const { viewer, language, stream } of this.#listeners) {
      if (viewer.role !== 'admin' && viewer.accountId !== owner) continue;
      const said = typeof data === 'function' ? inLanguage(language, data as () => object) : data;
      stream.write(`event: ${event}\ndata: ${JSON.stringify(said)}\n\n`);
      // Its client reads nothing; the browser connects again when it does.
      if (stream.writableLength > MOST_UNREAD_BYTES) stream.destroy();
    }
  }

  /** Keeps the streams of live sessions open, and ends the others. Without the database, all are kept. */
  async beat(): Promise<void> {
    for (const listener of [...this.#listeners]) {
      const viewer = await this.#sessions.find(listener.viewer.token).catch(() => listener.viewer);
      if (viewer) {
        listener.viewer = viewer;
        listener.stream.write(':\n\n');
      } else this.#close(listener);
    }
  }
}

/** `rendering, 40 frames, 1.3 s of video`. */
export function shownProgress({ stage, frames, seconds }: RenderProgress): string {
  const { job, counts } = texts();
  const name = job.stages[stage];
  return frames === 0 ? name : job.progress(name, counts.frames(frames), shownDecimal(seconds));
}
