import type { Finding, InspectedSource, Play, RenderProgress } from '../../lib/index.ts';
import type { Inspected, JobResults, JobState, KeptFile } from './engine.ts';

/** Of more plays, the first are told. */
const MOST_PLAYS = 100;
const STAGES: Record<RenderProgress['stage'], string> = {
  loading: 'Loading the scene',
  rendering: 'Rendering',
  finishing: 'Finishing',
};

/** One line for each finding, and its hint below. */
export function findingsText(findings: readonly Finding[]): string {
  return findings.map(findingText).join('\n');
}

function findingText({ line, severity, message, kind, hint }: Finding): string {
  const place = line === null ? '' : `line ${line}: `;
  return `${place}${severity}: ${message} [${kind}]${hint === null ? '' : `\n  hint: ${hint}`}`;
}

/** What a check found. */
export function checkText(findings: readonly Finding[]): string {
  return findings.length === 0 ? 'Nothing is wrong.' : findingsText(findings);
}

/** What an inspection found: findings, then when each play of the scenes begins. */
export function inspectionText({ findings, scenes, creditsCost }: Inspected): string {
  const parts = [checkText(findings), ...scenes.map(timelineText)];
  if (creditsCost !== null && scenes.length > 0) parts.push(`It cost ${counted(creditsCost, 'credit')}.`);
  const [shown, ...others] = scenes;
  if (shown && others.length > 0)
    parts.push(`The contact sheet shows ${shown.className}. Name another className to see that.`);
  return parts.join('\n');
}

function timelineText({ className, seconds, plays }: InspectedSource['scenes'][number]): string {
  return [
    `${className}: ${counted(plays.length, 'play')}, ${shownSeconds(seconds)}`,
    ...playLines(plays),
  ].join('\n');
}

function playLines(plays: readonly Play[]): string[] {
  const lines = plays.slice(0, MOST_PLAYS).map(({ line, shows, startSeconds, seconds }) => {
    const place = line === 0 ? '' : ` (line ${line})`;
    return `  ${shownSeconds(startSeconds)} to ${shownSeconds(startSeconds + seconds)}: ${shows}${place}`;
  });
  return plays.length > MOST_PLAYS
    ? [...lines, `  … ${counted(plays.length - MOST_PLAYS, 'more play')}`]
    : lines;
}

/** What became of a job. */
export function jobText(state: JobState, results: JobResults | undefined): string {
  const { jobId, className, status, durationMs, creditsCost } = state;
  const took = shownSeconds((durationMs ?? 0) / 1000);
  if (results) {
    const cost = creditsCost === null ? '' : ` It cost ${counted(creditsCost, 'credit')}.`;
    const others = results.others.map(({ name, url }) => `${name}: ${url}`);
    return [
      `${className} was rendered in ${took}.${cost}`,
      `Video: ${results.videoPath ?? results.videoUrl}`,
      ...others,
      `Job: ${jobId}`,
    ].join('\n');
  }
  if (status === 'failed') {
    const { error, diagnosis } = state;
    const reason = diagnosis ? findingText(diagnosis) : (error ?? 'The reason is not known.');
    const cost = creditsCost === null ? '' : ' It cost nothing.';
    return `${className} failed after ${took}.${cost}\n${reason}`;
  }
  const now = status === 'queued' ? 'waits for a worker' : 'is being rendered';
  return `${className} ${now}. Call the tool job with the jobId ${jobId} to wait for its end.`;
}

/** A page of files: what `render` takes as `files`. */
export function filesText(files: readonly KeptFile[], next: string | null): string {
  if (files.length === 0) return 'There are no files.';
  const lines = files.map(
    ({ name, kind, sizeBytes, fileId }) => `${name}: ${kind}, ${sizeBytes} bytes, ${fileId}`,
  );
  return [...lines, ...(next === null ? [] : [`More follow after ${next}.`])].join('\n');
}

/** `Rendering: 40 frames, 1.3 s of video`. */
export function progressText({ stage, frames, seconds }: RenderProgress): string {
  return frames === 0
    ? STAGES[stage]
    : `${STAGES[stage]}: ${counted(frames, 'frame')}, ${shownSeconds(seconds)} of video`;
}

function shownSeconds(seconds: number): string {
  return `${seconds.toFixed(1)} s`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
