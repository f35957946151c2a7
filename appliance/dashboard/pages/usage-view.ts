import type { JobDetails } from '../../admin/administration-views.ts';
import { shownDuration, shownSize } from '../format.ts';
import { type Html, html } from '../html.ts';
import { texts } from '../language/texts.ts';

/** Time by kind of work, or else by stage, peak memory and copied frames of a render that ended by itself. */
export function usageCard({ usage }: Pick<JobDetails, 'usage'>): Html | false {
  if (!usage) return false;
  const { stagesMs, workMs, peakMemoryBytes, copiedFrames } = usage;
  const { job, counts } = texts();
  const t = job.usage;
  const times = workMs ? meters(t.work, workMs) : meters(t.stages, stagesMs);
  return html`<section class="card" id="usage"><h2>${t.title}</h2><dl class="meters">${times}<div><dt>${t.peakMemory}</dt><dd class="number">${peakMemoryBytes === null ? t.tooShort : shownSize(peakMemoryBytes)}</dd></div>${copiedFrames > 0 && html`<div><dt>${t.copied}</dt><dd class="number">${counts.frames(copiedFrames)}</dd></div>`}</dl></section>`;
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
