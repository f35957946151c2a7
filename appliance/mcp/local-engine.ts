import { randomUUID } from 'node:crypto';
import { mkdir, stat } from 'node:fs/promises';
import { basename, join, parse, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CheckedSource, LocalRender, LocalRenderer, RenderProgress } from '../../lib/index.ts';
import { openRegularFile, ScenepressError } from '../../lib/internal.ts';
import { saveFile } from '../support/save-file.ts';
import { UserError } from '../support/user-error.ts';
import {
  chosen,
  type Engine,
  type Inspected,
  type JobResults,
  type JobState,
  LARGEST_PICTURE_BYTES,
  LARGEST_SENT_VIDEO_BYTES,
  type MadeFile,
  type RenderOrder,
  type SceneQuestion,
  type Waiting,
} from './engine.ts';

/** The part of a renderer that the engine uses. */
export type EngineRenderer = Pick<LocalRenderer, 'check' | 'inspect' | 'render' | 'discard'>;

interface LocalJob {
  state: JobState;
  results: JobResults | undefined;
  abort: AbortController;
  listeners: Set<(progress: RenderProgress) => void>;
  /** Rejects if it could not be rendered for a reason that is not the scene's. */
  ended: Promise<void>;
}

/** Calls `work` with a started renderer. */
type UseRenderer = <T>(work: (renderer: EngineRenderer) => Promise<T>) => Promise<T>;

/** Jobs that are remembered; of more, those that ended first are forgotten. */
const MOST_JOBS = 100;

/** Renders by a renderer of this machine's user, into a folder. Its jobs are forgotten when the process ends. */
export class LocalEngine implements Engine {
  readonly #use: UseRenderer;
  readonly #folder: string;
  readonly #jobs = new Map<string, LocalJob>();

  /** `folder`: of the videos. */
  constructor({ useRenderer, folder }: { useRenderer: UseRenderer; folder: string }) {
    this.#use = useRenderer;
    this.#folder = resolve(folder);
  }

  async check(
    { dryRun, ...question }: SceneQuestion & { dryRun: boolean },
    signal: AbortSignal,
  ): Promise<CheckedSource> {
    const options = { ...chosen(question), dryRun, signal };
    return this.#use((renderer) => renderer.check(question.code, options));
  }

  async inspect(question: SceneQuestion, signal: AbortSignal): Promise<Inspected> {
    const options = { ...chosen(question), signal };
    const found = await this.#use((renderer) => renderer.inspect(question.code, options));
    return { ...found, creditsCost: null };
  }

  async render(order: RenderOrder): Promise<string> {
    if (order.files)
      throw new UserError('There is no account here that keeps files: scenes read those of --folder.');
    const jobId = randomUUID();
    const { className } = order;
    const job: LocalJob = {
      state: {
        ...{ jobId, className, status: 'queued', durationMs: null },
        ...{ creditsCost: null, error: null, diagnosis: null },
      },
      results: undefined,
      abort: new AbortController(),
      listeners: new Set(),
      ended: Promise.resolve(),
    };
    job.ended = this.#run(job, order);
    job.ended.catch(() => {}); // It is told to those who ask for the job.
    this.#remember(job);
    return jobId;
  }

  async wait(jobId: string, { signal, onProgress }: Waiting): Promise<JobState> {
    const job = this.#job(jobId);
    job.listeners.add(onProgress);
    const { promise: aborted, resolve: abort } = Promise.withResolvers<void>();
    const end = () => abort();
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
    try {
      await Promise.race([job.ended, aborted]);
    } finally {
      signal.removeEventListener('abort', end);
      job.listeners.delete(onProgress);
    }
    return { ...job.state };
  }

  async cancel(jobId: string): Promise<JobState> {
    const job = this.#job(jobId);
    job.abort.abort();
    await job.ended;
    return { ...job.state };
  }

  async results(jobId: string): Promise<JobResults> {
    const { results } = this.#job(jobId);
    if (!results) throw new ScenepressError('not_found', 'The job has no video.');
    return results;
  }

  async videoOrigins(): Promise<string[]> {
    return [];
  }

  async readVideo(url: string): Promise<Uint8Array | undefined> {
    const jobs = [...this.#jobs.values()];
    const path = jobs.find(({ results }) => results?.videoUrl === url)?.results?.videoPath;
    return path == null ? undefined : readBounded(path, LARGEST_SENT_VIDEO_BYTES);
  }

  /** Ends all jobs. */
  async stop(): Promise<void> {
    for (const { abort } of this.#jobs.values()) abort.abort();
    await Promise.allSettled([...this.#jobs.values()].map(({ ended }) => ended));
  }

  #job(jobId: string): LocalJob {
    const job = this.#jobs.get(jobId);
    if (!job)
      throw new ScenepressError(
        'not_found',
        'There is no such job: this server has forgotten it, or never had it.',
      );
    return job;
  }

  #remember(job: LocalJob): void {
    this.#jobs.set(job.state.jobId, job);
    if (this.#jobs.size <= MOST_JOBS) return;
    const oldest = [...this.#jobs.values()].find(({ state }) => hasEnded(state));
    if (oldest) this.#jobs.delete(oldest.state.jobId);
  }

  async #run(job: LocalJob, order: RenderOrder): Promise<void> {
    const { state, abort } = job;
    try {
      await this.#use((renderer) => this.#render(renderer, job, order));
    } catch (error) {
      Object.assign(state, { status: 'failed', durationMs: 0 });
      if (!abort.signal.aborted) throw error;
      state.error = 'Canceled';
    }
  }

  async #render(renderer: EngineRenderer, job: LocalJob, order: RenderOrder): Promise<void> {
    const { state, abort, listeners } = job;
    const { files: _, ...options } = chosen(order);
    const onProgress = (progress: RenderProgress) => {
      state.status = 'running';
      for (const listener of listeners) listener(progress);
    };
    const request = { ...options, code: order.code, className: order.className };
    const render = await renderer.render(request, { signal: abort.signal, onProgress });
    try {
      if (render.status === 'completed') job.results = await this.#keep(render, order.className);
    } finally {
      await renderer.discard(render);
    }
    const { status, durationMs, error, diagnosis } = render;
    Object.assign(state, { status, durationMs, error, diagnosis });
  }

  /** Saves the video, and captions and other formats beside it. */
  async #keep({ files, plays }: LocalRender, className: string): Promise<JobResults> {
    const made = (name: string) => files.find((file) => file.name === name)?.path;
    const [video, thumbnail] = [made('video.mp4'), made('thumbnail.jpg')];
    if (video === undefined) throw new Error('The render made no video.');
    await makeFolder(this.#folder);
    const path = join(this.#folder, `${className}.mp4`);
    await saveFile(video, path);
    const others: MadeFile[] = [];
    for (const { name, path: from } of files) {
      if (name === 'video.mp4' || name === 'thumbnail.jpg') continue;
      const to = join(this.#folder, savedName(name, className));
      await saveFile(from, to);
      others.push({ name: basename(to), url: pathToFileURL(to).href });
    }
    return {
      videoUrl: pathToFileURL(path).href,
      videoPath: path,
      videoBytes: (await stat(path)).size,
      thumbnail: (thumbnail && (await readBounded(thumbnail, LARGEST_PICTURE_BYTES))) || null,
      plays,
      others,
    };
  }
}

/** `Demo.gif` for `video.gif`, and `Demo-last-frame.png` for `last-frame.png`. */
function savedName(name: string, className: string): string {
  const { name: stem, ext } = parse(name);
  return stem === 'video' || stem === 'captions' || stem === 'sound'
    ? `${className}${ext}`
    : `${className}-${stem}${ext}`;
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (cause) {
    const message = `The folder ${folder} can't be written: ${(cause as Error).message}. Name another with --output-dir.`;
    throw new UserError(message, { cause });
  }
}

function hasEnded({ status }: JobState): boolean {
  return status === 'completed' || status === 'failed';
}

/** Undefined if the file is larger, or gone. */
async function readBounded(path: string, mostBytes: number): Promise<Uint8Array | undefined> {
  const file = await openRegularFile(path).catch(() => undefined);
  try {
    const size = (await file?.stat())?.size ?? Number.POSITIVE_INFINITY;
    return size > mostBytes ? undefined : await file?.readFile();
  } finally {
    await file?.close();
  }
}
