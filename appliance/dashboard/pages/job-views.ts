import type { RenderProgress } from '../../../lib/index.ts';
import { JOB_STATUSES } from '../../admin/administration-requests.ts';
import type { JobInfo } from '../../admin/administration-views.ts';
import { shownDuration, shownNumber, shownQuality, shownTime, utcText } from '../format.ts';
import { type Html, html } from '../html.ts';
import { texts } from '../language/texts.ts';
import { shownProgress } from '../live-events.ts';
import { BASE } from '../route.ts';

/** The states of jobs, as people see them, by which lists are filtered. */
export type JobState = JobInfo['status'] | 'canceled';
export const JOB_STATES: JobState[] = [...JOB_STATUSES, 'canceled'];

const LOOKS: Record<JobState | 'forgotten', string> = {
  queued: '',
  running: 'busy',
  completed: 'good',
  failed: 'bad',
  // Neutral: the scene did not fail.
  canceled: '',
  forgotten: '',
};

/** The state of a job: one that was canceled has not failed, and of a forgotten one nothing is left to look at. */
export function stateOf({
  status,
  failedBy,
  forgottenAt,
}: Pick<JobInfo, 'status' | 'failedBy' | 'forgottenAt'>): keyof typeof LOOKS {
  if (forgottenAt !== null) return 'forgotten';
  return failedBy === 'cancel' ? 'canceled' : status;
}

export function stateLabel(state: JobState): string {
  return texts().job.states[state];
}

export function stateTag(job: Parameters<typeof stateOf>[0]): Html {
  const state = stateOf(job);
  return html`<span class="tag ${LOOKS[state]}">${texts().job.states[state]}</span>`;
}

/** Updated by the script while it renders. */
export function progressText(jobId: string, progress: RenderProgress | null): Html {
  return html`<span class="muted" data-progress="${jobId}">${progress ? shownProgress(progress) : ''}</span>`;
}

/** The name of a job in lists; empty once it is forgotten. */
export function jobName({ className, jobId }: JobInfo): Html {
  return html`<a href="${BASE}/jobs/${jobId}">${className || texts().common.forgotten}</a>`;
}

/** A table of jobs. `accounts`: with a column of their accounts. `select`: with checkboxes, of the field `jobId`. */
export function jobTable(
  jobs: JobInfo[],
  { accounts, select = false }: { accounts: boolean; select?: boolean },
): Html {
  const { common, job: t } = texts();
  return html`<div class="scroll"><table class="cards">
<thead><tr>${select && html`<th class="pick"><span class="visually-hidden">${t.select}</span></th>`}<th>${common.scene}</th><th>${common.status}</th>${accounts && html`<th>${common.account}</th>`}<th>${common.quality}</th><th>${common.created}</th><th class="end">${common.time}</th><th class="end">${common.credits}</th></tr></thead>
<tbody>${jobs.map((job) => jobRow(job, { accounts, select }))}</tbody></table></div>`;
}

function jobRow(job: JobInfo, { accounts, select }: { accounts: boolean; select: boolean }): Html {
  const { jobId, status, account, quality, createdAt, durationMs, creditsCost, error, progress } = job;
  const { common, job: t } = texts();
  const isFailed = stateOf(job) === 'failed';
  return html`<tr>${
    select &&
    html`
<td class="pick"><input type="checkbox" name="jobId" value="${jobId}" aria-label="${t.selectJob(job.className, utcText(createdAt))}"></td>`
  }
<th scope="row" class="rowhead fill">${jobName(job)}${isFailed && error !== null && html`<span class="clip small muted">${firstLine(error)}</span>`}${status === 'running' && html`<span class="clip small">${progressText(jobId, progress)}</span>`}</th>
<td data-label="${common.status}">${stateTag(job)}</td>
${accounts && html`<td data-label="${common.account}"><span class="clip">${account}</span></td>`}
<td data-label="${common.quality}" class="wide">${shownQuality(quality)}</td>
<td data-label="${common.created}">${shownTime(createdAt)}</td>
<td data-label="${common.time}" class="end number wide">${shownDuration(durationMs)}</td>
<td data-label="${common.credits}" class="end number">${shownNumber(creditsCost)}</td>
</tr>`;
}

export function firstLine(text: string): string {
  return (text.split('\n').find((line) => line.trim() !== '') ?? '').slice(0, 200);
}
