import { buffer } from 'node:stream/consumers';
import type { ArtifactUrl, CheckedSource, EnqueueRequest, Job, RenderService } from '../../lib/index.ts';
import { isScenepressError, ScenepressError } from '../../lib/internal.ts';
import type { Caller } from '../../lib/web/index.ts';
import {
  chosen,
  type Engine,
  type Inspected,
  type JobResults,
  type JobState,
  LARGEST_PICTURE_BYTES,
  type RenderOrder,
  type SceneQuestion,
  type Waiting,
} from './engine.ts';

/** The part of a service that the engine uses. */
export type EngineService = Pick<
  RenderService,
  'check' | 'inspect' | 'enqueue' | 'follow' | 'get' | 'cancel' | 'plays' | 'openArtifact'
>;

/** Options of {@link ServiceEngine}. */
export interface ServiceEngineOptions {
  service: EngineService;
  /** Who owns the jobs. */
  caller: Caller;
  /** Base URL of links to artifacts, without a trailing slash. */
  assetUrl: string;
  /** Makes the links instead. */
  artifactUrl?: ArtifactUrl | undefined;
  /** The origin to which the links redirect; default: they do not. */
  redirectOrigin?: (() => Promise<string>) | undefined;
  /** The trace that the jobs belong to. */
  traceContext?: NonNullable<EnqueueRequest['traceContext']>;
}

/** Renders by a service, for one of its accounts. */
export class ServiceEngine implements Engine {
  readonly #service: EngineService;
  readonly #caller: Caller;
  readonly #assetUrl: string;
  readonly #artifactUrl: ArtifactUrl | undefined;
  readonly #redirectOrigin: (() => Promise<string>) | undefined;
  readonly #traced: Pick<ServiceEngineOptions, 'traceContext'>;

  constructor({
    service,
    caller,
    assetUrl,
    artifactUrl,
    redirectOrigin,
    traceContext,
  }: ServiceEngineOptions) {
    this.#service = service;
    this.#caller = caller;
    this.#assetUrl = assetUrl;
    this.#artifactUrl = artifactUrl;
    this.#redirectOrigin = redirectOrigin;
    this.#traced = traceContext ? { traceContext } : {};
  }

  async videoOrigins(): Promise<string[]> {
    const { owner } = this.#caller;
    // A link of any video: all have the same origin.
    const link = this.#linkOf({ jobId: 'job', owner }, 'job-1/video.mp4');
    const redirected = await this.#redirectOrigin?.();
    return [new URL(link).origin, ...(redirected === undefined ? [] : [redirected])];
  }

  check(
    { code, className, quality, dryRun }: SceneQuestion & { dryRun: boolean },
    signal: AbortSignal,
  ): Promise<CheckedSource> {
    const { owner } = this.#caller;
    return this.#service.check(code, { ...chosen({ className, quality }), dryRun, owner, signal });
  }

  async inspect({ code, className, quality }: SceneQuestion, signal: AbortSignal): Promise<Inspected> {
    const { owner } = this.#caller;
    const found = await this.#service.inspect(code, { ...chosen({ className, quality }), owner, signal });
    const creditsCost = found.scenes.reduce((sum, scene) => sum + scene.creditsCost, 0);
    return { ...found, creditsCost };
  }

  async render({ code, className, quality, aspectRatio }: RenderOrder): Promise<string> {
    const { owner, keyId, webhookUrl } = this.#caller;
    const { jobId } = await this.#service.enqueue({
      ...{ code, className, ...chosen({ quality, aspectRatio }) },
      ...{ owner, keyId, webhookUrl },
      ...this.#traced,
    });
    return jobId;
  }

  async wait(jobId: string, { signal, onProgress }: Waiting): Promise<JobState> {
    const { owner } = this.#caller;
    try {
      for await (const event of this.#service.follow(jobId, { owner, signal })) {
        if (event.type === 'progress') onProgress(event.progress);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    return stateOf(await this.#service.get(jobId, { owner }));
  }

  async cancel(jobId: string): Promise<JobState> {
    return stateOf(await this.#service.cancel(jobId, { owner: this.#caller.owner }));
  }

  async results(jobId: string): Promise<JobResults> {
    const { owner } = this.#caller;
    const [job, plays] = await Promise.all([
      this.#service.get(jobId, { owner }),
      this.#service.plays(jobId, { owner }),
    ]);
    const video = job.artifacts.find(({ name }) => name === 'video.mp4');
    if (!video) throw new ScenepressError('not_found', 'The job has no video.');
    return {
      videoUrl: this.#linkOf({ jobId, owner }, video.assetKey),
      videoPath: null,
      videoBytes: video.sizeBytes,
      thumbnail: await this.#thumbnailOf(job),
      plays,
    };
  }

  async readVideo(): Promise<undefined> {
    return undefined;
  }

  #linkOf({ jobId, owner }: Pick<Job, 'jobId' | 'owner'>, assetKey: string): string {
    const name = 'video.mp4';
    return (
      this.#artifactUrl?.({ jobId, owner, name, assetKey }) ?? `${this.#assetUrl}/artifacts/${jobId}/${name}`
    );
  }

  async #thumbnailOf({ jobId, artifacts }: Job): Promise<Uint8Array | null> {
    const name = 'thumbnail.jpg';
    const { sizeBytes = 0 } = artifacts.find((artifact) => artifact.name === name) ?? {};
    if (sizeBytes === 0 || sizeBytes > LARGEST_PICTURE_BYTES) return null;
    const { owner } = this.#caller;
    try {
      return await buffer((await this.#service.openArtifact(jobId, name, { owner })).stream);
    } catch (error) {
      if (isScenepressError(error, 'artifact_gone')) return null;
      throw error;
    }
  }
}

function stateOf({ jobId, className, status, durationMs, creditsCost, error, diagnosis }: Job): JobState {
  return { jobId, className, status, durationMs, creditsCost, error, diagnosis };
}
