import type { PlacedAudio } from './audio.ts';
import type { JobFormat } from './formats.ts';
import type { GivenFiles } from './owner-file.ts';
import type { Params } from './params.ts';
import type { RenderRequest } from './render-request.ts';
import type { FrameSelection } from './selection.ts';

/** A render request of an owner. */
export interface EnqueueRequest extends RenderRequest, FrameSelection {
  /**
   * The owner of the job: an account id of yours, opaque to the service. Not empty, well-formed Unicode without NUL, at most
   * 1,024 bytes in UTF-8.
   */
  owner: string;
  /**
   * The API key of the request. Its secret signs the webhook to `webhookUrl` ({@link WebhookOptions.secretOf}). The
   * rules of `owner` apply, but it may be empty.
   */
  keyId?: string | null;
  /** A webhook with its own signing secret, for use without API keys. Overrides `webhookUrl`. */
  webhook?: { url: string; secret: string };
  /** The metadata as JSON text, stored verbatim. Overrides `metadata`. */
  metadataJson?: string | null;
  /**
   * An idempotency key, unique per owner: repeating the request within a day returns the first job. `fingerprint`
   * identifies the request content, as well-formed Unicode without NUL; default: a hash of the request.
   */
  idempotency?: { key: string; fingerprint?: string };
  /** A name for people, at most 200 characters. */
  title?: string;
  /** Words to find it by: at most 20 of at most 50 characters. */
  tags?: readonly string[];
  /** The project that it is part of, like a folder: a name of at most 100 characters. */
  project?: string;
  /** Of the scene's random numbers, from 0 to 4,294,967,295. Default: another one in each render. */
  seed?: number;
  /** Values of parameters that the scene declares, by name: JSON of at most 64 KiB. */
  params?: Params;
  /**
   * Sounds among the files, placed in the video at times or at moments of the scene, at most 100; their texts become
   * captions. A moment that the scene does not have fails the job.
   */
  audio?: readonly PlacedAudio[];
  /**
   * What the job makes besides its video, thumbnail and captions: at most six of the formats in the manual. They are made
   * of the same frames, those without a background of a second drawing, and paid by the time that they take.
   */
  formats?: readonly JobFormat[];
  /**
   * The files that the scene may read, by the names under which it finds them: ids of files of the owner, or contents, which
   * only this job has, as long as it has its source. At most 500, and 200 MiB together. Default: all files of the owner, or
   * none if they are more ({@link RenderService.filesOf} says so). Error: `not_found` if the owner has no such file.
   *
   * ```ts
   * await service.enqueue({ owner, className, code, files: { 'logo.png': { content: createReadStream('logo.png') } } });
   * ```
   */
  files?: GivenFiles;
  /**
   * A job of the owner, such as the one that the scene was edited from: frames that equal those of its video are copied
   * instead of encoded. Used if it is completed, with the same quality, aspect ratio and fps. Default: the newest such job
   * with the same class name. Error: `not_found` if the owner has no such job.
   */
  earlierJobId?: string;
  /**
   * The trace that the job belongs to, as headers of a request (W3C); malformed headers are ignored. Default: that of the
   * active span of OpenTelemetry.
   */
  traceContext?: { traceparent: string; tracestate?: string };
}

/** An idempotency key and what identifies the content of the request, as of {@link EnqueueRequest}. */
export type Idempotency = NonNullable<EnqueueRequest['idempotency']>;

/** Options of {@link RenderService.enqueueMany}. */
export interface EnqueueManyOptions {
  /** Prevents jobs that are not yet being stored. */
  signal?: AbortSignal;
  /** As of {@link EnqueueRequest}, for all of them together. */
  idempotency?: Idempotency;
}

/** Options of {@link RenderService.renderAgain}. */
export interface RenderAgainOptions extends JobScope {
  /** What differs from the earlier job. A quality has its own frame rate, unless `fps` is given. */
  changes?: Partial<Omit<EnqueueRequest, 'owner' | 'webhook' | 'idempotency' | 'earlierJobId'>>;
  /** As of {@link EnqueueRequest}. */
  idempotency?: Idempotency;
}

/** What {@link RenderService.relabel} changes of a job; what is absent stays. */
export interface JobLabels {
  /** A name for people, at most 200 characters; null: none. */
  title?: string | null;
  /** Words to find it by: at most 20 of at most 50 characters. */
  tags?: readonly string[];
  /** Whether it is marked. */
  starred?: boolean;
  /** The project that it is part of, at most 100 characters; null: none. */
  project?: string | null;
}

/** Restricts a lookup to one owner's jobs; other jobs are reported as `not_found`. */
export interface JobScope {
  /** Jobs of other owners are as if they did not exist; default: those of all. */
  owner?: string;
}

/** Options of `wait` and `follow`. */
export interface WaitOptions extends JobScope {
  /** Aborts the wait; the job is not affected. */
  signal?: AbortSignal;
}

/** Options of {@link RenderService.scenesOf}. */
export interface ScenesOptions {
  /** Aborts the wait. */
  signal?: AbortSignal;
  /**
   * The owner for whom the code runs: its run time counts toward the owner's failure budget and limit of concurrent
   * renders. Default: not counted.
   */
  owner?: string;
  /** As of {@link EnqueueRequest}; contents are removed afterwards. Default: all files of the owner, if there is one. */
  files?: GivenFiles;
}
