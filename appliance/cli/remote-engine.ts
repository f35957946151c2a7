import type { CheckedSource } from '../../lib/index.ts';
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
} from '../mcp/engine.ts';
import { UserError } from '../support/user-error.ts';
import { followJob } from './remote-job.ts';
import { RemoteScenes, valid } from './remote-scenes.ts';
import type { Remote, RemoteService } from './remote-service.ts';
import { type ToldJob, toldJob } from './schemas/told.ts';

/** Renders by a service elsewhere, whose answers may be anything, for the account of a key. */
export class RemoteEngine implements Engine {
  readonly #service: RemoteService;
  readonly #scenes: RemoteScenes;
  readonly #origins: string[];
  readonly #note: (text: string) => void;

  /** `origins`: from which its files come. `note`: tells the user of this machine. */
  constructor(service: RemoteService, options: { origins: string[]; note: (text: string) => void }) {
    this.#service = service;
    this.#scenes = new RemoteScenes(service);
    this.#origins = options.origins;
    this.#note = options.note;
  }

  check(
    { code, className, quality, dryRun }: SceneQuestion & { dryRun: boolean },
    signal: AbortSignal,
  ): Promise<CheckedSource> {
    return this.#scenes.check(code, { ...chosen({ className, quality }), dryRun, signal });
  }

  inspect({ code, className, quality }: SceneQuestion, signal: AbortSignal): Promise<Inspected> {
    return this.#scenes.inspect(code, { ...chosen({ className, quality }), signal });
  }

  async render({ code, className, quality, aspectRatio }: RenderOrder): Promise<string> {
    const request = { code, className, ...chosen({ quality, aspectRatio }) };
    const { jobId } = await this.#service.call(({ client, signal }) => client.enqueue(request, { signal }));
    return String(jobId);
  }

  async wait(jobId: string, { signal, onProgress }: Waiting): Promise<JobState> {
    try {
      await this.#service.call(
        (remote) => followJob(remote.client, jobId, { signal: remote.signal, onProgress }),
        signal,
      );
    } catch (error) {
      if (!signal.aborted) throw error;
    }
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
    };
  }

  async videoOrigins(): Promise<string[]> {
    return this.#origins;
  }

  async readVideo(): Promise<undefined> {
    return undefined;
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

async function told({ client, signal }: Remote, jobId: string): Promise<ToldJob> {
  return valid<ToldJob>(toldJob, await client.details(jobId, { signal }));
}
