import { buffer } from 'node:stream/consumers';
import type { ArtifactUrl, CheckedSource, EnqueueRequest, Job, RenderService } from '../../lib/index.ts';
import { isScenepressError, ScenepressError } from '../../lib/internal.ts';
import type { Caller } from '../../lib/web/index.ts';
import {
  chosen,
  type EngineFiles,
  type Inspected,
  type JobResults,
  type JobState,
  LARGEST_PICTURE_BYTES,
  LinkingEngine,
  type RenderOrder,
  type SceneQuestion,
  type Waiting,
} from './engine.ts';

/** The part of a service that the engine uses. */
export type EngineService = Pick<
  RenderService,
  'check' | 'inspect' | 'enqueue' | 'follow' | 'get' | 'cancel' | 'plays' | 'openArtifact' | 'files'
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
export class ServiceEngine extends LinkingEngine {
  readonly files: EngineFiles;
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
    super();
    this.#service = service;
    this.files = filesOf(service, caller);
    this.#caller = caller;
    this.#assetUrl = assetUrl;
    this.#artifactUrl = artifactUrl;
    this.#redirectOrigin = redirectOrigin;
    this.#traced = traceContext ? { traceContext } : {};
  }

  async videoOrigins(): Promise<string[]> {
    const { owner } = this.#caller;
    // A link of any video: all have the same origin.
    const video = { name: 'video.mp4', assetKey: 'job-1/video.mp4' } as const;
    const link = this.#linkOf({ jobId: 'job', owner }, video);
    const redirected = await this.#redirectOrigin?.();
    return [new URL(link).origin, ...(redirected === undefined ? [] : [redirected])];
  }

  check(
    { dryRun, ...question }: SceneQuestion & { dryRun: boolean },
    signal: AbortSignal,
  ): Promise<CheckedSource> {
    const { owner } = this.#caller;
    return this.#service.check(question.code, { ...chosen(question), dryRun, owner, signal });
  }

  async inspect(question: SceneQuestion, signal: AbortSignal): Promise<Inspected> {
    const { owner } = this.#caller;
    const found = await this.#service.inspect(question.code, { ...chosen(question), owner, signal });
    const creditsCost = found.scenes.reduce((sum, scene) => sum + scene.creditsCost, 0);
    return { ...found, creditsCost };
  }

  async render(order: RenderOrder): Promise<string> {
    const { owner, keyId, webhookUrl } = this.#caller;
    const { jobId } = await this.#service.enqueue({
      ...{ code: order.code, className: order.className, ...chosen(order) },
      ...{ owner, keyId, webhookUrl },
      ...this.#traced,
    });
    return jobId;
  }

  protected async follow(jobId: string, { signal, onProgress }: Waiting): Promise<void> {
    const { owner } = this.#caller;
    for await (const event of this.#service.follow(jobId, { owner, signal })) {
      if (event.type === 'progress') onProgress(event.progress);
    }
  }

  protected async stateOf(jobId: string): Promise<JobState> {
    return stateOf(await this.#service.get(jobId, { owner: this.#caller.owner }));
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
      videoUrl: this.#linkOf({ jobId, owner }, video),
      videoPath: null,
      videoBytes: video.sizeBytes,
      thumbnail: await this.#thumbnailOf(job),
      plays,
      others: job.artifacts
        .filter(({ name }) => name !== 'video.mp4' && name !== 'thumbnail.jpg')
        .map((artifact) => ({ name: artifact.name, url: this.#linkOf({ jobId, owner }, artifact) })),
    };
  }

  #linkOf(
    { jobId, owner }: Pick<Job, 'jobId' | 'owner'>,
    { name, assetKey }: Pick<Job['artifacts'][number], 'name' | 'assetKey'>,
  ): string {
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

const PAGE = 100;

function filesOf({ files }: EngineService, { owner }: Caller): EngineFiles {
  return {
    list: async ({ folder, after }) => {
      const query = { ...(folder !== undefined && { folder }), ...(after !== undefined && { after }) };
      const found = await files.list({ owner, limit: PAGE, ...query });
      return { files: found, next: found.length < PAGE ? null : (found.at(-1)?.name ?? null) };
    },
    put: (name, content) => files.put({ owner, name, content }),
    remove: (fileId) => files.remove(fileId, { owner }),
  };
}

function stateOf({ jobId, className, status, durationMs, creditsCost, error, diagnosis }: Job): JobState {
  return { jobId, className, status, durationMs, creditsCost, error, diagnosis };
}
