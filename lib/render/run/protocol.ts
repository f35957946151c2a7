import { parseObject, withoutControlCharacters } from './line-reader.ts';

/**
 * What Node and the renderer (`renderer/scene_renderer/protocol.py`) say to each other: JSON, one object a line.
 *
 * A zygote's own channel is its standard input and output: it is told to fork and to kill, and reports the end of
 * a job once every process of it is dead. It never sees a scene. Each fork has a channel of its own, a Unix socket
 * in the job's folder, over which it gets its job and sends its reports. A report is a claim of code that nobody
 * trusts; only the zygote's word counts for how the job ended.
 */
export type ZygoteCommand =
  | ({ type: 'fork' } & ForkCommand)
  | { type: 'kill'; job: string }
  | { type: 'ping' };

/** What the limits of a whole job are is said here; those of its single processes go to itself. */
export interface ForkCommand {
  job: string;
  folder: string;
  socket: string;
  memoryBytes: number;
  diskBytes: number;
  files: number;
  fileSizeBytes: number;
  /** Names of files in the folder that the job reads. */
  inputs: string[];
  /** Names of files that it is to leave there, and the largest size in bytes of each. */
  outputs: Record<string, number>;
  /** It gets less of the processor than others. */
  background: boolean;
}

/** The zygote is warm. */
export interface ZygoteReady {
  type: 'ready';
  manim: string;
  python: string;
  /** The layers of the sandbox that it puts each job in, and why it can't use the others here. */
  layers: string[];
  problems: Record<string, string>;
  /** Jobs go into the control group that it was given. */
  cgroup: boolean;
}

/** Every process of a job is dead. */
export interface JobEnded {
  type: 'ended';
  job: string;
  exitCode: number | null;
  signal: string | null;
  /**
   * The limit that all its processes, or all its files, reached together; `no_room`: there was none on the disk for
   * what the job left.
   */
  reason: 'memory' | 'disk' | 'files' | 'no_room' | null;
}

export type ZygoteReport =
  | ZygoteReady
  | { type: 'forked' | 'pong' }
  | JobEnded
  | { type: 'error'; message: string };

/** Limits that the renderer sets on itself. */
export interface JobLimits {
  addressSpaceBytes: number;
  processes: number;
  fileSizeBytes: number;
  diskBytes: number;
  openFiles: number;
  frames: number;
  outputBytes: number;
}

export type RendererJob =
  | {
      kind: 'render';
      code: string;
      className: string;
      widthPx: number;
      heightPx: number;
      fps: number;
      previewIntervalMs: number;
      limits: JobLimits;
    }
  | {
      /** Asks which scenes the source defines. */
      kind: 'list';
      code: string;
      widthPx: number;
      heightPx: number;
      fps: number;
      previewIntervalMs: 0;
      limits: JobLimits;
    }
  | {
      /** Asks for a look at a video, which must be what was asked for. */
      kind: 'inspect';
      widthPx: number;
      heightPx: number;
      fps: number;
      limits: JobLimits;
    };

/** What a fork says of its job, after checking. */
export type JobReport =
  | { type: 'stage'; stage: 'loading' | 'rendering' | 'finishing' }
  | { type: 'progress'; frames: number; seconds: number }
  | { type: 'preview'; jpeg: string }
  | { type: 'done'; frames: number; seconds: number; captions: boolean }
  | { type: 'inspected'; frames: number; seconds: number }
  | { type: 'scenes'; names: string[] }
  | { type: 'failed'; error: string };

/** The longest line that is read from a zygote or a fork. */
export const LONGEST_LINE_BYTES: number = 128 * 1024;

const LONGEST_ERROR = 4096;
const EMPTY_LINES = /\n[ \t]*\n\s*\n/g;
const MOST_SCENES = 1000;
const CLASS_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,199}$/;
const STAGES = new Set(['loading', 'rendering', 'finishing']);

/** A zygote's line; undefined when it makes no sense. The zygote is ours, so its fields are taken as they are. */
export function parseZygoteReport(line: string): ZygoteReport | undefined {
  return parseObject(line) as ZygoteReport | undefined;
}

/** A fork's line, bounded and cleaned; undefined when it is not a report. */
export function parseJobReport(line: string): JobReport | undefined {
  const report = parseObject(line);
  switch (report?.['type']) {
    case 'stage':
      return STAGES.has(report['stage'] as string) ? (report as JobReport) : undefined;
    case 'progress':
      return { type: 'progress', frames: count(report['frames']), seconds: amount(report['seconds']) };
    case 'preview':
      return typeof report['jpeg'] === 'string' ? { type: 'preview', jpeg: report['jpeg'] } : undefined;
    case 'done':
      return {
        type: 'done',
        frames: count(report['frames']),
        seconds: amount(report['seconds']),
        captions: report['captions'] === true,
      };
    case 'inspected':
      return { type: 'inspected', frames: count(report['frames']), seconds: amount(report['seconds']) };
    case 'scenes':
      return { type: 'scenes', names: sceneNames(report['names']) };
    case 'failed':
      return { type: 'failed', error: sceneError(report['error']) };
    default:
      return undefined;
  }
}

function sceneNames(value: unknown): string[] {
  const names = Array.isArray(value) ? value.slice(0, MOST_SCENES) : [];
  return names.filter((name) => typeof name === 'string' && CLASS_NAME.test(name));
}

function sceneError(value: unknown): string {
  const text = typeof value === 'string' ? withoutControlCharacters(value).slice(0, LONGEST_ERROR) : '';
  return text.replace(EMPTY_LINES, '\n\n').trim().toWellFormed() || 'The scene failed without saying why.';
}

function count(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : 0;
}

function amount(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0;
}
