import type {
  AspectRatio,
  CheckedSource,
  Finding,
  InspectedSource,
  JobStatus,
  Play,
  Quality,
  RenderProgress,
} from '../../lib/index.ts';

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
}

/** A scene to render. */
export interface RenderOrder extends SceneQuestion {
  className: string;
  aspectRatio?: AspectRatio | undefined;
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
}

/** The options that are not left to their defaults. */
export function chosen({
  className,
  quality,
  aspectRatio,
}: Pick<SceneQuestion, 'className' | 'quality'> & Pick<RenderOrder, 'aspectRatio'>): {
  className?: string;
  quality?: Quality;
  aspectRatio?: AspectRatio;
} {
  return {
    ...(className !== undefined && { className }),
    ...(quality !== undefined && { quality }),
    ...(aspectRatio !== undefined && { aspectRatio }),
  };
}
