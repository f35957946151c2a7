import type {
  AspectRatio,
  CheckedSource,
  EnqueueRequest,
  Finding,
  InspectedSource,
  JobStatus,
  Play,
  Quality,
  RenderProgress,
} from '../../lib/index.ts';
import type { JobFormat, OwnerFile } from '../../lib/internal.ts';

type Params = NonNullable<EnqueueRequest['params']>;

/** The largest picture in a result, in bytes. */
export const LARGEST_PICTURE_BYTES = 200_000;
/** The largest video that is sent in a message, in bytes. */
export const LARGEST_SENT_VIDEO_BYTES: number = 20 * 1024 * 1024;

/** A source, and which of its scenes. */
export interface SceneQuestion {
  code: string;
  /** Default: all scenes of the source. */
  className?: string | undefined;
  /** Of the render that it is asked for. */
  quality?: Quality | undefined;
  /** Of parameters that the scenes declare. */
  params?: Params | undefined;
}

/** A scene to render. */
export interface RenderOrder extends SceneQuestion {
  className: string;
  aspectRatio?: AspectRatio | undefined;
  /** What it makes besides the MP4. */
  formats?: readonly JobFormat[] | undefined;
  /** Ids of files by the names under which the scene finds them; default: all files of the account. */
  files?: Readonly<Record<string, string>> | undefined;
}

/** What is told about a job at any time. */
export interface JobState {
  jobId: string;
  className: string;
  status: JobStatus;
  /** Null until it has ended. */
  durationMs: number | null;
  /** What it cost; null where renders cost nothing. */
  creditsCost: number | null;
  /** For the author of the scene; null unless it failed. */
  error: string | null;
  /** What is wrong with the scene; null unless the scene failed. */
  diagnosis: Finding | null;
}

/** What a completed job has made. */
export interface JobResults {
  /** An absolute URL: `https:`, `http:` or `file:`. */
  videoUrl: string;
  /** Null where the video is no file of this machine. */
  videoPath: string | null;
  /** Null when it is not known. */
  videoBytes: number | null;
  /** A JPEG of at most {@link LARGEST_PICTURE_BYTES}; null if it is larger, or removed. */
  thumbnail: Uint8Array | null;
  plays: Play[];
  /** What it made besides: other formats, captions. */
  others: MadeFile[];
}

/** A file that a job has made. */
export interface MadeFile {
  name: string;
  /** An absolute URL, as that of the video. */
  url: string;
}

/** A file of the account, which its scenes read by name. */
export type KeptFile = Pick<OwnerFile, 'fileId' | 'name' | 'kind' | 'sizeBytes'>;

/** The files of an account. */
export interface EngineFiles {
  /** A page of files, by name. `after`: the `next` of the page before. */
  list(query: { folder?: string; after?: string }): Promise<{ files: KeptFile[]; next: string | null }>;
  /** Keeps a file, instead of one of the same name. Error: `invalid_request` for what scenes can't use. */
  put(name: string, content: Uint8Array<ArrayBuffer>): Promise<KeptFile>;
  /** Error: `not_found`. */
  remove(fileId: string): Promise<void>;
  /** The content of a file of this machine's user. Undefined where the user is on another machine. */
  readOwn?: (path: string) => Promise<Uint8Array<ArrayBuffer>>;
}

/** What an inspection found. */
export interface Inspected extends InspectedSource {
  /** What it cost; null where inspections cost nothing. */
  creditsCost: number | null;
}

/** How a wait is ended and followed. */
export interface Waiting {
  /** Ends the wait. */
  signal: AbortSignal;
  onProgress: (progress: RenderProgress) => void;
}

/** What the tools are made of: a renderer of this machine, or a service, here or elsewhere, for one of its accounts. */
export interface Engine {
  /** Tells what is wrong with a source, by running its scenes or (`dryRun: false`) only by reading it. */
  check(
    question: SceneQuestion & { dryRun: boolean },
    signal: AbortSignal,
  ): Promise<Pick<CheckedSource, 'ok' | 'findings'>>;
  /** Draws pictures of the scenes of a source. */
  inspect(question: SceneQuestion, signal: AbortSignal): Promise<Inspected>;
  /** Begins to render; resolves with the id of the job. */
  render(order: RenderOrder): Promise<string>;
  /** Resolves with the state of a job when it has ended, or when the signal is aborted. Error: `not_found`. */
  wait(jobId: string, waiting: Waiting): Promise<JobState>;
  /** Ends a job that has not ended. Error: `not_found`. */
  cancel(jobId: string): Promise<JobState>;
  /** The results of a completed job. Error: `not_found`. */
  results(jobId: string): Promise<JobResults>;
  /** The origins from which videos are loaded; none where {@link Engine.readVideo} sends them. */
  videoOrigins(): Promise<string[]>;
  /** The video with a `file:` URL of {@link JobResults}; undefined if there is none, or it is too large. */
  readVideo(url: string): Promise<Uint8Array | undefined>;
  /** Undefined without an account. */
  readonly files?: EngineFiles;
}

/** A renderer of a service, here or elsewhere: its videos are links. */
export abstract class LinkingEngine implements Engine {
  abstract readonly files: EngineFiles;
  abstract check(
    question: SceneQuestion & { dryRun: boolean },
    signal: AbortSignal,
  ): Promise<Pick<CheckedSource, 'ok' | 'findings'>>;
  abstract inspect(question: SceneQuestion, signal: AbortSignal): Promise<Inspected>;
  abstract render(order: RenderOrder): Promise<string>;
  abstract cancel(jobId: string): Promise<JobState>;
  abstract results(jobId: string): Promise<JobResults>;
  abstract videoOrigins(): Promise<string[]>;
  /** Follows a job to its end. */
  protected abstract follow(jobId: string, waiting: Waiting): Promise<void>;
  protected abstract stateOf(jobId: string): Promise<JobState>;

  async wait(jobId: string, waiting: Waiting): Promise<JobState> {
    try {
      await this.follow(jobId, waiting);
    } catch (error) {
      if (!waiting.signal.aborted) throw error;
    }
    return this.stateOf(jobId);
  }

  async readVideo(): Promise<undefined> {
    return undefined;
  }
}

/** What is not left to its default, without the code. */
export function chosen({
  className,
  quality,
  params,
  aspectRatio,
  formats,
  files,
}: Omit<SceneQuestion, 'code'> & Pick<RenderOrder, 'aspectRatio' | 'formats' | 'files'>): {
  className?: string;
  quality?: Quality;
  params?: Params;
  aspectRatio?: AspectRatio;
  formats?: readonly JobFormat[];
  files?: Readonly<Record<string, string>>;
} {
  return {
    ...(className !== undefined && { className }),
    ...(quality !== undefined && { quality }),
    ...(params !== undefined && { params }),
    ...(aspectRatio !== undefined && { aspectRatio }),
    ...(formats !== undefined && { formats }),
    ...(files !== undefined && { files }),
  };
}
