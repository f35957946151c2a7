import type { Play } from '../../lib/index.ts';

/** A part of a video that a list leads to. */
export interface Chapter {
  title: string;
  startSeconds: number;
  endSeconds: number;
}

/** Shorter plays belong to the chapter before them. */
const SHORTEST_SECONDS = 1;
const MOST = 60;
const LONGEST_TITLE = 120;

/** The chapters of a video: its plays, from one to the next. Fewer than two are none. */
export function chaptersOf(plays: readonly Play[]): Chapter[] {
  const first = plays.at(0);
  if (!first) return [];
  const end = Math.max(...plays.map(({ startSeconds, seconds }) => startSeconds + seconds));
  const shortest = Math.max(SHORTEST_SECONDS, end / MOST);
  const starts: Play[] = [];
  for (const play of plays) {
    const last = starts.at(-1);
    if (isWait(play)) continue;
    if (!last || play.startSeconds - last.startSeconds >= shortest) starts.push(play);
  }
  if (starts.length < 2) return [];
  return starts.map(({ shows, startSeconds }, at) => ({
    title: shows.slice(0, LONGEST_TITLE).toWellFormed(),
    startSeconds: at === 0 ? 0 : startSeconds,
    endSeconds: starts[at + 1]?.startSeconds ?? end,
  }));
}

/** As WebVTT, for players that list chapters themselves. */
export function chaptersVtt(chapters: readonly Chapter[]): string {
  const cues = chapters.map(
    ({ title, startSeconds, endSeconds }) =>
      `${vttTime(startSeconds)} --> ${vttTime(endSeconds)}\n${title
        .replace(/\s+/g, ' ')
        .replaceAll('&', '&amp;')
        .replaceAll('<', '&lt;')
        .replaceAll('>', '&gt;')}\n`,
  );
  return `WEBVTT\n\n${cues.join('\n')}`;
}

/** Such as `1:05` or `1:00:05`. */
export function shownClock(seconds: number): string {
  const whole = Math.floor(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const tail = `${String(minutes).padStart(hours > 0 ? 2 : 1, '0')}:${String(rest).padStart(2, '0')}`;
  return hours > 0 ? `${hours}:${tail}` : tail;
}

function isWait({ shows }: Play): boolean {
  return /^Wait\b/i.test(shows);
}

function vttTime(seconds: number): string {
  const ms = Math.round(seconds * 1000);
  const part = (value: number, digits = 2) => String(value).padStart(digits, '0');
  return `${part(Math.floor(ms / 3_600_000))}:${part(Math.floor(ms / 60_000) % 60)}:${part(Math.floor(ms / 1000) % 60)}.${part(ms % 1000, 3)}`;
}
