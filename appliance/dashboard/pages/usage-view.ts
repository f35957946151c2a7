import type { RenderStage } from '../../../lib/index.ts';
import type { JobDetails } from '../../admin/administration-views.ts';
import { shownDuration, shownSize } from '../format.ts';
import { type Html, html } from '../html.ts';

const STAGES: Record<RenderStage, string> = {
  loading: 'Loading the code',
  rendering: 'Drawing frames',
  finishing: 'Writing the video',
  checking: 'Checking the video',
};

/** Time by stage and peak memory of a render that ended by itself. */
export function usageCard({ usage }: JobDetails): Html | false {
  if (!usage) return false;
  const { stagesMs, peakMemoryBytes } = usage;
  const total = Object.values(stagesMs).reduce((sum, ms) => sum + ms, 0);
  const stages = Object.entries(STAGES).flatMap(([stage, label]) => {
    const ms = stagesMs[stage as RenderStage];
    return ms === undefined ? [] : [{ label, ms }];
  });
  return html`<section class="card" id="usage"><h2>Time and memory</h2><dl class="meters">${stages.map(
    ({ label, ms }) =>
      html`<div><dt>${label}</dt><dd class="number">${shownDuration(ms)}</dd><dd class="bar" aria-hidden="true"><progress max="${Math.max(total, 1)}" value="${ms}"></progress></dd></div>`,
  )}<div><dt>Peak memory</dt><dd class="number">${peakMemoryBytes === null ? 'too short to measure' : shownSize(peakMemoryBytes)}</dd></div></dl></section>`;
}
