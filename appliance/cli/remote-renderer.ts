import { createWriteStream, openAsBlob } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import {
  ApiError,
  type EndedJob,
  type RenderRequest,
  type ScenepressClient,
} from '../../lib/client/index.ts';
import type { LocalRender, LocalRequest } from '../../lib/index.ts';
import {
  ARTIFACT_NAMES,
  ARTIFACTS,
  type LocalFile,
  type LocalRenderOptions,
  SCENE_FAULTS,
} from '../../lib/internal.ts';
import { sceneClassesIn } from '../support/scene-classes.ts';
import { UserError } from '../support/user-error.ts';
import type { GivenFiles } from './given-files.ts';
import { printable } from './output.ts';
import { followJob } from './remote-job.ts';
import { ofTools, type RemoteService } from './remote-service.ts';
import type { Renders } from './warm-renderer.ts';

const LONGEST_ERROR = 4096;

/** Renders by a service elsewhere, whose answers may be anything. */
export class RemoteRenderer implements Renders {
  readonly #service: RemoteService;
  readonly #files: GivenFiles | undefined;
  readonly #folders = new WeakMap<LocalRender, string>();

  /** `files`: sent with each request. */
  constructor(service: RemoteService, files?: GivenFiles) {
    this.#service = service;
    this.#files = files;
  }

  async scenesOf(code: LocalRequest['code']): Promise<string[]> {
    return sceneClassesIn(textOf(code));
  }

  async render(request: LocalRequest, options: LocalRenderOptions = {}): Promise<LocalRender> {
    const { signal: interrupted, onProgress, onOutput } = options;
    let jobId = '';
    try {
      return await this.#service.call(async ({ client, signal }) => {
        jobId = await enqueued(client, request, this.#files, signal);
        const ended = await followJob(client, jobId, { signal, onProgress });
        const told = await toldOf(client, jobId, signal);
        if (told.output !== '') onOutput?.(printable(told.output));
        return this.#rendered(client, { ...ended, ...told }, signal);
      }, interrupted);
    } catch (error) {
      if (interrupted?.aborted && jobId !== '')
        process.stderr.write(`Job ${printable(String(jobId))} continues at ${this.#service.url}.\n`);
      throw error;
    }
  }

  async discard(render: LocalRender): Promise<void> {
    const folder = this.#folders.get(render);
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }

  async #rendered(
    client: ScenepressClient,
    { result, ...job }: EndedJob & Told,
    signal: AbortSignal,
  ): Promise<LocalRender> {
    const { status, durationMs, error, failedBy, diagnosis, output, usage } = job;
    const files: LocalFile[] = [];
    const render: LocalRender = {
      status: status === 'completed' ? status : 'failed',
      durationMs: Number(durationMs) || 0,
      error: error === null ? null : String(error).slice(0, LONGEST_ERROR),
      ...{ failedBy, diagnosis, files, output, usage },
      plays: [],
    };
    if (typeof result !== 'object' || result === null) return render;
    const folder = await mkdtemp(join(tmpdir(), 'scenepress-'));
    this.#folders.set(render, folder);
    try {
      // A service decides about none of these names.
      for (const name of ARTIFACT_NAMES) {
        const field = ARTIFACTS[name].field;
        if (!Object.hasOwn(result, field)) continue;
        const { body } = await client.download({ result }, field, { signal });
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

/** What a service tells of a render besides its end. */
type Told = Pick<LocalRender, 'failedBy' | 'diagnosis' | 'output' | 'usage'>;

const NOTHING_TOLD: Told = { failedBy: null, diagnosis: null, output: '', usage: null };

/** Any service has the endpoint of the contract; only the tools API has the other fields. */
async function enqueued(
  client: ScenepressClient,
  asked: LocalRequest,
  files: GivenFiles | undefined,
  signal: AbortSignal,
): Promise<string> {
  const { code, className, quality, aspectRatio, fps, params, audio, output, formats } = asked;
  const { fromPlay, toPlay, poster, stills } = asked;
  const request = { code: textOf(code), className, quality, aspectRatio, fps } as RenderRequest;
  const seed = output?.config?.['seed'];
  const more = {
    ...(seed !== undefined && { seed: Number(seed) }),
    ...(params && { params }),
    ...(audio && { audio }),
    ...(formats && { formats }),
    ...(fromPlay !== undefined && { fromPlay }),
    ...(toPlay !== undefined && { toPlay }),
    ...(poster !== undefined && { poster }),
    ...(stills && { stills }),
  };
  if (files) {
    const blobs: [string, Blob][] = [];
    for (const [name, path] of Object.entries(files)) blobs.push([name, await openAsBlob(path)]);
    const sent = { ...request, ...more, files: Object.fromEntries(blobs) };
    return (await ofTools(client.enqueue(sent, { signal }))).jobId;
  }
  if (Object.keys(more).length === 0) return (await client.enqueue(request, { signal })).jobId;
  const [job] = await ofTools(client.enqueueMany([{ ...request, ...more }], { signal }));
  if (!job) throw new Error('the service did not report the job');
  return job.jobId;
}

/** Nothing, if the service has no tools API, or tells something else. */
async function toldOf(client: ScenepressClient, jobId: string, signal: AbortSignal): Promise<Told> {
  const { told: schema } = await import('./schemas/told.ts');
  try {
    const answer = await client.details(jobId, { signal });
    const { error, value } = schema.validate(answer, { convert: false, stripUnknown: true });
    if (error) return NOTHING_TOLD;
    const { failure, ...told } = value as Omit<Told, 'failedBy'> & { failure: { kind: string } | null };
    return { ...told, failedBy: SCENE_FAULTS.find((fault) => fault === failure?.kind) ?? null };
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return NOTHING_TOLD;
    throw error;
  }
}

/** Requests of a service are JSON. */
export function textOf(code: LocalRequest['code']): string {
  if (typeof code === 'string') return code;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(code);
  } catch (cause) {
    throw new UserError('The file is not UTF-8. Convert it, or leave out --server.', {
      exitCode: 2,
      cause,
    });
  }
}
