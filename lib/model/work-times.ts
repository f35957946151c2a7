import type { RenderWork } from './render-task.ts';
import type { WorkTimes } from './renderer-messages.ts';

/** The kinds of work of a render, in the order in which it first does them: the keys of `RenderUsage.workMs`. */
export const RENDER_WORK: readonly RenderWork[] = [
  'start',
  'scene',
  'tex',
  'copy',
  'update',
  'draw',
  'encode',
  'collect',
];

/**
 * The time of a render by kind of work, in milliseconds. `scene`: as reported by the fork at the end of its scene, and
 * limited to `totalMs`. Time before the first report counts as start-up.
 */
export function workTimes(
  scene: WorkTimes,
  { totalMs, collectMs }: { totalMs: number; collectMs: number },
): Record<RenderWork, number> {
  const measuredMs = Object.values(scene).reduce((sum, ms) => sum + ms, 0);
  const startMs = Math.max(0, totalMs - collectMs - measuredMs);
  const all = { start: startMs, ...scene, collect: collectMs };
  const rounded = Object.entries(all).map(([work, ms]) => [work, Math.round(Math.min(ms, totalMs))]);
  return Object.fromEntries(rounded) as Record<RenderWork, number>;
}
