import { parseObject, withoutControlCharacters } from './line-reader.ts';

/**
 * The protocol between Node and the renderer (`renderer/scene_renderer/protocol.py`): one JSON object per line.
 *
 * A zygote's channel is its standard input and output: it receives commands to fork and to kill, and reports the end
 * of a job when all its processes are dead. It never sees a scene. Each fork has its own channel, a Unix socket in
 * the job's folder, to receive its job and send reports. Reports come from untrusted code; only the zygote decides
 * how a job ended.
 */
export type ZygoteCommand =
  | ({ type: 'fork' } & ForkCommand)
  | { type: 'kill'; job: string }
  | { type: 'ping' };

/** Contains the limits of the whole job; those of single processes are sent to the fork. */
export interface ForkCommand {
  job: string;
  folder: string;
  socket: string;
  memoryBytes: number;
  diskBytes: number;
  files: number;
  fileSizeBytes: number;
  /** Names of the input files in the folder. */
  inputs: string[];
  /** Names of the output files, and the maximum size in bytes of each. */
  outputs: Record<string, number>;
  /** Runs with a lower CPU priority. */
  background: boolean;
}

/** The zygote is warm. */
export interface ZygoteReady {
  type: 'ready';
  manim: string;
  python: string;
  /** The sandbox layers of its jobs, and why the other layers are unavailable. */
  layers: string[];
  problems: Record<string, string>;
  /** Whether jobs run in the given control group. */
  cgroup: boolean;
}

/** All processes of a job are dead. */
export interface JobEnded {
  type: 'ended';
  job: string;
  exitCode: number | null;
  signal: string | null;
  /**
   * The limit that its processes or files exceeded in total; `no_room`: the disk was full when copying its output.
   */
  reason: 'memory' | 'disk' | 'files' | 'no_room' | null;
}

export type ZygoteReport =
  | ZygoteReady
  | { type: 'forked' | 'pong' }
  | JobEnded
  | { type: 'error'; message: string };

/** Limits that a fork sets on itself. */
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
      /** Lists the scenes of the source. */
      kind: 'list';
      code: string;
      widthPx: number;
      heightPx: number;
      fps: number;
      previewIntervalMs: 0;
      limits: JobLimits;
    }
  | {
      /** Inspects a video, which must match the request. */
      kind: 'inspect';
      widthPx: number;
      heightPx: number;
      fps: number;
      limits: JobLimits;
    };

/** A validated report of a fork. */
export type JobReport =
  | { type: 'stage'; stage: 'loading' | 'rendering' | 'finishing' }
  | { type: 'progress'; frames: number; seconds: number }
  | { type: 'preview'; jpeg: string }
  | { type: 'done'; frames: number; seconds: number; captions: boolean }
  | { type: 'inspected'; frames: number; seconds: number }
  | { type: 'scenes'; names: string[] }
  | { type: 'failed'; error: string };

/** The longest line accepted from a zygote or a fork. */
export const LONGEST_LINE_BYTES: number = 128 * 1024;

const LONGEST_ERROR = 4096;
const EMPTY_LINES = /\n[ \t]*\n\s*\n/g;
const MOST_SCENES = 1000;
const CLASS_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,199}$/;
const STAGES = new Set(['loading', 'rendering', 'finishing']);

/** Parses a zygote's line; undefined when it is invalid. The zygote is trusted, so its fields are not checked. */
export function parseZygoteReport(line: string): ZygoteReport | undefined {
  return parseObject(line) as ZygoteReport | undefined;
}

/** Parses and sanitizes a fork's line; undefined when it is not a report. */
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
