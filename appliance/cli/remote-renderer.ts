import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { ApiError, type EndedJob, ScenepressClient } from '../../lib/client/index.ts';
import type { LocalRender, LocalRequest, RenderProgress } from '../../lib/index.ts';
import {
  ARTIFACT_NAMES,
  ARTIFACTS,
  type LocalFile,
  type LocalRenderOptions,
  type RenderStage,
} from '../../lib/internal.ts';
import { sceneClassesIn } from '../support/scene-classes.ts';
import { UserError } from '../support/user-error.ts';
import { guardedFetch } from './guarded-fetch.ts';
import { printable } from './output.ts';
import { STAGES } from './progress-line.ts';
import type { RenderFlags } from './render-request.ts';
import type { Renders } from './warm-renderer.ts';

const LONGEST_ERROR = 4096;

/** The address of a service, and the key for it. */
export interface Server {
  url: string;
  key: string;
  /** Where its artifacts may be, besides `url`. */
  artifacts: string[];
}

/** Renders by a service elsewhere, whose answers may be anything. */
export class RemoteRenderer implements Renders {
  readonly #url: string;
  readonly #client: ScenepressClient;
  readonly #folders = new WeakMap<LocalRender, string>();

  readonly #refused = new AbortController();

  /** `mostBytes`: of each artifact. */
  constructor({ url, key, artifacts }: Server, mostBytes: number) {
    this.#url = url;
    const fetch = guardedFetch({
      origins: new Set([url, ...artifacts].map((address) => new URL(address).origin)),
      mostBytes,
      onRefusal: (reason) => this.#refused.abort(reason),
    });
    this.#client = new ScenepressClient({ url, key, fetch });
  }

  async scenesOf(code: LocalRequest['code']): Promise<string[]> {
    return sceneClassesIn(textOf(code));
  }

  async render(
    { code, className, quality, aspectRatio, fps }: LocalRequest,
    { signal: interrupted, onProgress }: LocalRenderOptions = {},
  ): Promise<LocalRender> {
    const { signal: refused } = this.#refused;
    const signal = interrupted ? AbortSignal.any([interrupted, refused]) : refused;
    const request = { code: textOf(code), className, quality, aspectRatio, fps };
    let jobId = '';
    try {
      ({ jobId } = await this.#client.enqueue(request as Parameters<ScenepressClient['enqueue']>[0], {
        signal,
      }));
      let ended: EndedJob | undefined;
      for await (const event of this.#client.follow(jobId, { signal })) {
        if (event.type === 'progress') onProgress?.(progressOf(event.progress));
        if (event.type === 'job' && event.job.status === 'running')
          onProgress?.({ stage: 'rendering', frames: 0, seconds: 0 });
        if (event.type === 'job' && event.job.completedAt !== null) ended = event.job as EndedJob;
      }
      if (!ended) throw new Error('the service did not report the end of the job');
      return await this.#rendered(ended, signal);
    } catch (cause) {
      if (interrupted?.aborted && jobId !== '')
        process.stderr.write(`Job ${printable(String(jobId))} continues at ${this.#url}.\n`);
      interrupted?.throwIfAborted();
      throw new UserError(`${this.#url}: ${messageOf(cause)}`, { cause });
    }
  }

  async discard(render: LocalRender): Promise<void> {
    const folder = this.#folders.get(render);
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }

  async #rendered(job: EndedJob, signal: AbortSignal): Promise<LocalRender> {
    const { status, durationMs, error, result } = job;
    const files: LocalFile[] = [];
    const render: LocalRender = {
      status: status === 'completed' ? status : 'failed',
      durationMs: Number(durationMs) || 0,
      error: error === null ? null : String(error).slice(0, LONGEST_ERROR),
      failedBy: null,
      diagnosis: null,
      files,
      output: '',
      plays: [],
      usage: null,
    };
    if (typeof result !== 'object' || result === null) return render;
    const folder = await mkdtemp(join(tmpdir(), 'scenepress-'));
    this.#folders.set(render, folder);
    try {
      // A service decides about none of these names.
      for (const name of ARTIFACT_NAMES) {
        const field = ARTIFACTS[name].field;
        if (!Object.hasOwn(result, field)) continue;
        const { body } = await this.#client.download(job, field, { signal });
        const path = join(folder, name);
        if (body) await pipeline(Readable.fromWeb(body as ReadableStream), createWriteStream(path));
        files.push({ name, path });
      }
      return render;
    } catch (cause) {
      await this.discard(render);
      throw cause;
    }
  }
}

/** Requests of a service are JSON. */
function textOf(code: LocalRequest['code']): string {
  if (typeof code === 'string') return code;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(code);
  } catch (cause) {
    throw new UserError('The file is not UTF-8. Convert it, or render it without --server.', {
      exitCode: 2,
      cause,
    });
  }
}

/** What a service reports, which may be anything. */
function progressOf({
  stage,
  frames,
  seconds,
}: {
  stage: unknown;
  frames: unknown;
  seconds: unknown;
}): RenderProgress {
  const isKnown = (text: unknown): text is RenderStage =>
    typeof text === 'string' && Object.hasOwn(STAGES, text);
  return {
    stage: isKnown(stage) ? stage : 'rendering',
    frames: Number(frames) || 0,
    seconds: Number(seconds) || 0,
  };
}

/** Where to render, if elsewhere. Error: for flags that a service has no field for. */
export function serverOf(flags: RenderFlags): Server | undefined {
  const { server, artifacts = [] } = flags;
  if (server === undefined && artifacts.length > 0) throw wrong('--artifacts is for renders with --server.');
  if (server === undefined) return undefined;
  const key = flags.key ?? process.env['SCENEPRESS_KEY'];
  if (!URL.canParse(server) || !/^https?:$/.test(new URL(server).protocol))
    throw wrong('--server is the address of a service, such as https://renders.example.org.');
  const other = artifacts.find((address) => !URL.canParse(address));
  if (other !== undefined)
    throw wrong(`--artifacts is an address, such as https://files.example.org, not ${other}.`);
  if (key === undefined) throw wrong('Name an API key of the service: --key KEY, or SCENEPRESS_KEY.');
  const unknown = Object.entries({
    '--resolution': flags.resolution,
    '--transparent': flags.transparent,
    '--save_last_frame': flags.save_last_frame,
    '-n': flags.from_animation_number,
    '--save_sections': flags.save_sections,
    '--folder': typeof flags.folder === 'string' ? flags.folder : undefined,
    '--seed': flags.seed,
    '--zero_pad': flags.zero_pad,
    '--tex_template': flags.tex_template,
    '--config_file': flags.manimConfig,
  }).find(([, value]) => value !== undefined);
  if (unknown) throw wrong(`A service has no ${unknown[0]}: it works without --server only.`);
  return { url: server, key, artifacts };
}

function messageOf(error: unknown): string {
  if (error instanceof ApiError) return `${error.status}: ${error.message}`;
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message} (${cause.message})` : message;
}

function wrong(message: string): UserError {
  return new UserError(message, { exitCode: 2 });
}
