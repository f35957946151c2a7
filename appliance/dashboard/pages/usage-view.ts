import type { RenderStage, RenderWork } from '../../../lib/internal.ts';
import type { JobDetails } from '../../admin/administration-views.ts';
import { counted, shownDuration, shownSize } from '../format.ts';
import { type Html, html } from '../html.ts';

const STAGES: Record<RenderStage, string> = {
  loading: 'Loading the code',
  rendering: 'Drawing frames',
  finishing: 'Writing the video',
};
const WORK: Record<RenderWork, string> = {
  start: 'Starting the process',
  scene: 'Code of the scene',
  tex: 'TeX',
  copy: 'Copying mobjects',
  update: 'Animations and updaters',
  draw: 'Drawing frames',
  encode: 'Waiting for the encoder',
  collect: 'Completing the video',
};

/** Time by kind of work, or else by stage, peak memory and copied frames of a render that ended by itself. */
export function usageCard({ usage }: Pick<JobDetails, 'usage'>): Html | false {
  if (!usage) return false;
  const { stagesMs, workMs, peakMemoryBytes, copiedFrames } = usage;
  const times = workMs ? meters(WORK, workMs) : meters(STAGES, stagesMs);
  return html`<section class="card" id="usage"><h2>Time and memory</h2><dl class="meters">${times}<div><dt>Peak memory</dt><dd class="number">${peakMemoryBytes === null ? 'too short to measure' : shownSize(peakMemoryBytes)}</dd></div>${copiedFrames > 0 && html`<div><dt>Copied from the last video</dt><dd class="number">${counted(copiedFrames, 'frame')}</dd></div>`}</dl></section>`;
}

function meters<Part extends string>(
  labels: Record<Part, string>,
  partsMs: Partial<Record<Part, number>>,
): Html[] {
  const parts = (Object.keys(labels) as Part[]).flatMap((part) => {
    const ms = partsMs[part];
    return ms === undefined ? [] : [{ label: labels[part], ms }];
  });
  const totalMs = parts.reduce((sum, { ms }) => sum + ms, 0);
  return parts.map(
    ({ label, ms }) =>
      html`<div><dt>${label}</dt><dd class="number">${shownDuration(ms)}</dd><dd class="bar" aria-hidden="true"><progress max="${Math.max(totalMs, 1)}" value="${ms}"></progress></dd></div>`,
  );
}
