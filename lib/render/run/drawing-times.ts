import type { RenderUsage } from '../../model/render-task.ts';
import { RENDER_WORK, workTimes } from '../../model/work-times.ts';
import type { SceneReports } from './scene-reports.ts';

/** When a drawing of a scene began and ended, and what its process reported. */
export interface DrawingTimes {
  reports: Pick<SceneReports, 'work'>;
  startedAtMs: number;
  /** Undefined: it has not ended. */
  endedAtMs?: number;
}

/** What the drawings of a render spent their time on, together; undefined if the process of one did not report it. */
export function workOf(drawings: readonly DrawingTimes[], nowMs: number): RenderUsage['workMs'] {
  const all = drawings.map(({ reports: { work }, startedAtMs, endedAtMs = nowMs }) =>
    work
      ? workTimes(work.scene, { totalMs: endedAtMs - startedAtMs, collectMs: endedAtMs - work.reportedAtMs })
      : undefined,
  );
  const [first, ...others] = all;
  if (!first) return undefined;
  const sum = { ...first };
  for (const times of others) {
    if (!times) return undefined;
    for (const work of RENDER_WORK) sum[work] += times[work];
  }
  return sum;
}
