import { parseObject, withoutControlCharacters } from '../base/line-reader.ts';
import { parseFinding, parseFindings, parseWarning } from './finding-parser.ts';
import type { Picture } from './output-types.ts';
import { parseParam } from './params.ts';
import type { FailedReport, JobReport, JobStage, Play, SceneFault, WorkTimes } from './renderer-messages.ts';
import { LONGEST_SPEECH, VOICE_NAME } from './speech.ts';
import type { ZygoteReport } from './zygote-messages.ts';

/*
 * The protocol between Node and the renderer: one JSON object per line.
 * `renderer/scene_renderer/protocol.json` describes the messages; `messages.ts` is generated from it.
 *
 * A zygote's channel is its standard input and output: it receives commands to fork and to kill, and reports the end
 * of a job when all its processes are dead, or have been killed because it has finished. It never sees a scene. Each
 * fork has its own channel, a Unix socket in the job's folder, to receive its job and send reports. Reports come from
 * untrusted code; only the zygote decides how a job ended.
 */

/** The longest line accepted from a zygote or a fork. */
export const LONGEST_LINE_BYTES: number = 128 * 1024;

const LONGEST_ERROR = 4096;
const EMPTY_LINES = /\n[ \t]*\n\s*\n/g;
const MOST_SCENES = 1000;
/** The plays that are kept of a scene. */
export const MOST_PLAYS = 1000;
/** The pictures of an inspection. */
export const MOST_PICTURES = 120;
/** The faults of what a scene shows that are kept. */
export const MOST_WARNINGS = 20;
/** The declarations of parameters that are kept of a scene. */
export const MOST_PARAMS = 100;
/** The output that is kept of a scene. */
export const MOST_OUTPUT = 33_000;
const LONGEST_SHOWS = 60;
const MOST_MOVES = 20;
const LONGEST_SECONDS = 1e6;
const LONGEST_WORK_MS = 1e9;
const CLASS_NAME = /^[\p{XID_Start}_]\p{XID_Continue}{0,199}$/u;
const STAGES: JobStage[] = ['loading', 'rendering', 'finishing'];
/** In the order of {@link SceneFault}. */
export const SCENE_FAULTS: readonly SceneFault[] = Object.keys({
  scene: true,
  tex: true,
  'limit:time': true,
  'limit:memory': true,
  'limit:disk': true,
  'limit:files': true,
  'limit:fileSize': true,
  'limit:frames': true,
  'limit:output': true,
} satisfies Record<SceneFault, true>) as SceneFault[];

/** Parses a zygote's line; undefined when it is invalid. The zygote is trusted, so its fields are not checked. */
export function parseZygoteReport(line: string): ZygoteReport | undefined {
  return parseObject(line) as ZygoteReport | undefined;
}

/** Parses and sanitizes a fork's line; undefined when it is not a report. */
export function parseJobReport(line: string): JobReport | undefined {
  const report = parseObject(line);
  switch (report?.['type']) {
    case 'stage': {
      const stage = STAGES.find((known) => known === report['stage']);
      return stage && { type: 'stage', stage };
    }
    case 'progress':
      return { type: 'progress', frames: count(report['frames']), seconds: amount(report['seconds']) };
    case 'preview':
      return typeof report['jpeg'] === 'string' ? { type: 'preview', jpeg: report['jpeg'] } : undefined;
    case 'plays':
      return { type: 'plays', plays: plays(report['plays']) };
    case 'moves':
      return { type: 'moves', moves: moves(report['moves']) };
    case 'pictures':
      return { type: 'pictures', pictures: objects(report['pictures'], MOST_PICTURES).map(picture) };
    case 'findings':
      return {
        type: 'findings',
        findings: objects(report['findings'], MOST_WARNINGS).flatMap((one) => parseWarning(one) ?? []),
      };
    case 'params':
      return {
        type: 'params',
        params: objects(report['params'], MOST_PARAMS).flatMap((one) => parseParam(one) ?? []),
      };
    case 'output':
      return { type: 'output', text: outputText(report['text']) };
    case 'speech':
      return {
        type: 'speech',
        text: oneLine(report['text'], LONGEST_SPEECH + 1),
        voice: voiceName(report['voice']),
        language: voiceName(report['language']),
      };
    case 'place':
      return {
        type: 'place',
        text: sceneText(report['text']),
        line: count(report['line']),
        play: Number.isSafeInteger(report['play']) ? count(report['play']) : null,
      };
    case 'work':
      return { type: 'work', ms: workTimes(report['ms']) };
    case 'done':
      return { type: 'done' };
    case 'encoded':
      return {
        type: 'encoded',
        frames: count(report['frames']),
        seconds: amount(report['seconds']),
        copiedFrames: count(report['copiedFrames']),
      };
    case 'scenes':
      return { type: 'scenes', names: sceneNames(report['names']) };
    case 'checked':
      return {
        type: 'checked',
        frames: count(report['frames']),
        seconds: amount(report['seconds']),
        readsPixels: report['readsPixels'] === true,
      };
    case 'read':
      return { type: 'read', findings: parseFindings(report['findings']) };
    case 'failed':
      return {
        type: 'failed',
        error: sceneError(report['error']),
        ...failure(report),
      };
    default:
      return undefined;
  }
}

function failure({
  error,
  failedBy,
  finding,
}: Record<string, unknown>): Omit<FailedReport, 'type' | 'error'> {
  const fault = SCENE_FAULTS.find((known) => known === failedBy) ?? 'scene';
  return { failedBy: fault, finding: parseFinding(finding, { error: sceneError(error), failedBy: fault }) };
}

function plays(value: unknown): Play[] {
  return objects(value, MOST_PLAYS).map(({ line, shows, startSeconds, seconds }) => ({
    line: count(line),
    shows: typeof shows === 'string' ? shortText(shows) : '',
    startSeconds: Math.min(amount(startSeconds), LONGEST_SECONDS),
    seconds: Math.min(amount(seconds), LONGEST_SECONDS),
  }));
}

function moves(value: unknown): string[][] {
  const given: unknown[] = Array.isArray(value) ? value.slice(0, MOST_PLAYS) : [];
  return given.map((names) =>
    (Array.isArray(names) ? names.slice(0, MOST_MOVES) : []).filter(isText).map(shortText),
  );
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function picture({ play, line, seconds }: Record<string, unknown>): Picture {
  return {
    play: Number.isSafeInteger(play) ? count(play) : null,
    line: count(line) || null,
    seconds: Math.min(amount(seconds), LONGEST_SECONDS),
  };
}

function objects(value: unknown, most: number): Record<string, unknown>[] {
  const given: unknown[] = Array.isArray(value) ? value.slice(0, most) : [];
  return given.filter((one): one is Record<string, unknown> => typeof one === 'object' && one !== null);
}

function workTimes(value: unknown): WorkTimes {
  const given = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  const ms = (work: keyof WorkTimes) => Math.min(amount(given[work]), LONGEST_WORK_MS);
  return {
    scene: ms('scene'),
    tex: ms('tex'),
    copy: ms('copy'),
    update: ms('update'),
    draw: ms('draw'),
    encode: ms('encode'),
  };
}

function shortText(text: string): string {
  return withoutControlCharacters(text.slice(0, LONGEST_SHOWS)).replaceAll(/\s/g, ' ').toWellFormed();
}

function voiceName(value: unknown): string | null {
  return isText(value) && VOICE_NAME.test(value) ? value : null;
}

function oneLine(value: unknown, most: number): string {
  const text = isText(value) ? value.slice(0, most).replaceAll(/\s+/g, ' ').trim() : '';
  return withoutControlCharacters(text).toWellFormed();
}

function outputText(value: unknown): string {
  if (typeof value !== 'string') return '';
  return withoutControlCharacters(value.slice(0, MOST_OUTPUT).replaceAll('\r\n', '\n')).toWellFormed();
}

function sceneNames(value: unknown): string[] {
  const names = Array.isArray(value) ? value.slice(0, MOST_SCENES) : [];
  return names.filter((name) => typeof name === 'string' && CLASS_NAME.test(name));
}

function sceneError(value: unknown): string {
  return sceneText(value) || 'The scene failed without saying why.';
}

function sceneText(value: unknown): string {
  const text = typeof value === 'string' ? withoutControlCharacters(value).slice(0, LONGEST_ERROR) : '';
  return text.replace(EMPTY_LINES, '\n\n').trim().toWellFormed();
}

function count(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : 0;
}

function amount(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0;
}
