import type { RenderWork } from '../../lib/index.ts';

/** The kinds of work of a render, in the order in which it first does them. */
export const RENDER_WORK: RenderWork[] = [
  'start',
  'scene',
  'tex',
  'copy',
  'update',
  'draw',
  'encode',
  'collect',
];

/** Where the time of a render went, such as `start 0.02 s, scene 0.31 s, TeX 1.20 s, …`. */
export function shownWork(workMs: Record<RenderWork, number>): string {
  return RENDER_WORK.map((work) => {
    const name = work === 'tex' ? 'TeX' : work;
    return `${name} ${(workMs[work] / 1000).toFixed(2)} s`;
  }).join(', ');
}
