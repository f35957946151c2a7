import type { CheckedSource } from '../../lib/index.ts';
import { ARTIFACTS } from '../../lib/internal.ts';
import {
  chosen,
  type EngineFiles,
  type Inspected,
  type JobResults,
  type JobState,
  LARGEST_PICTURE_BYTES,
  LinkingEngine,
  type MadeFile,
  type RenderOrder,
  type SceneQuestion,
  type Waiting,
} from '../mcp/engine.ts';
import { UserError } from '../support/user-error.ts';
import { remoteFiles } from './remote-files.ts';
import { followJob } from './remote-job.ts';
import { RemoteScenes, valid } from './remote-scenes.ts';
import { ofTools, type Remote, type RemoteService } from './remote-service.ts';
import { type ToldJob, toldJob } from './schemas/told.ts';

/** Renders by a service elsewhere, whose answers may be anything, for the account of a key. */
export class RemoteEngine extends LinkingEngine {
  readonly files: EngineFiles;
  readonly #service: RemoteService;
  readonly #scenes: RemoteScenes;
  readonly #origins: string[];
  readonly #note: (text: string) => void;

  /**
   * `origins`: from which its files come. `note`: tells the user of this machine. `folder`: of files that may be kept for
   * scenes.
   */
  constructor(
    service: RemoteService,
    options: { origins: string[]; note: (text: string) => void; folder?: string | undefined },
  ) {
    super();
    this.#service = service;
    this.files = remoteFiles(service, options.folder);
    this.#scenes = new RemoteScenes(service);
    this.#origins = options.origins;
    this.#note = options.note;
  }

  check(
    { dryRun, ...question }: SceneQuestion & { dryRun: boolean },
    signal: AbortSignal,
  ): Promise<CheckedSource> {
    return this.#scenes.check(question.code, { ...chosen(question), dryRun, signal });
  }

  inspect(question: SceneQuestion, signal: AbortSignal): Promise<Inspected> {
    return this.#scenes.inspect(question.code, { ...chosen(question), signal });
  }

  async render(order: RenderOrder): Promise<string> {
    const request = { ...chosen(order), code: order.code, className: order.className };
    const [job] = await this.#service.call(({ client, signal }) =>
      ofTools(client.enqueueMany([request], { signal })),
    );
    return String(job?.jobId);
  }

  protected async follow(jobId: string, { signal, onProgress }: Waiting): Promise<void> {
    await this.#service.call(
      (remote) => followJob(remote.client, jobId, { signal: remote.signal, onProgress }),
      signal,
    );
  }

  protected stateOf(jobId: string): Promise<JobState> {
    return this.#service.call((remote) => stateOf(remote, jobId));
  }

  cancel(jobId: string): Promise<JobState> {
    return this.#service.call(async (remote) => {
      await remote.client.cancel(jobId, { signal: remote.signal });
      return stateOf(remote, jobId);
    });
  }

  async results(jobId: string): Promise<JobResults> {
    const { result, plays } = await this.#service.call((remote) => told(remote, jobId));
    if (!result) throw new UserError(`${this.#service.url}: the job has no video.`);
    return {
      videoUrl: result.video,
      videoPath: null,
      videoBytes: null,
      thumbnail: await this.#thumbnailOf(result),
      plays,
      others: othersOf(result),
    };
  }

  async videoOrigins(): Promise<string[]> {
    return this.#origins;
  }

  /** A result without its picture is better than none. */
  async #thumbnailOf({ thumbnail }: NonNullable<ToldJob['result']>): Promise<Uint8Array | null> {
    try {
      const jpeg = await this.#service.call(({ picture }) => picture(thumbnail));
      return jpeg.length === 0 || jpeg.length > LARGEST_PICTURE_BYTES ? null : jpeg;
    } catch (error) {
      this.#note((error as Error).message);
      return null;
    }
  }
}

async function stateOf(remote: Remote, jobId: string): Promise<JobState> {
  const { plays: _, result: __, ...state } = await told(remote, jobId);
  return state;
}

/** With the names that artifacts have. */
function othersOf(result: NonNullable<ToldJob['result']>): MadeFile[] {
  return Object.entries(ARTIFACTS).flatMap(([name, { field }]) => {
    const url = field === 'video' || field === 'thumbnail' ? undefined : result[field];
    return url === undefined ? [] : [{ name, url }];
  });
}

async function told({ client, signal }: Remote, jobId: string): Promise<ToldJob> {
  return valid<ToldJob>(toldJob, await client.details(jobId, { signal }));
}
