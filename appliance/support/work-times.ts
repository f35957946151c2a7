import { RENDER_WORK, type RenderWork } from '../../lib/internal.ts';

/** Where the time of a render went, such as `start 0.02 s, scene 0.31 s, TeX 1.20 s, …`. */
export function shownWork(workMs: Record<RenderWork, number>): string {
  return RENDER_WORK.map((work) => {
    const name = work === 'tex' ? 'TeX' : work;
    return `${name} ${(workMs[work] / 1000).toFixed(2)} s`;
  }).join(', ');
}
