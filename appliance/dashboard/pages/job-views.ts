import type { RenderProgress } from '../../../lib/index.ts';
import { JOB_STATUSES } from '../../admin/administration-requests.ts';
import type { JobInfo } from '../../admin/administration-views.ts';
import { shownDuration, shownNumber, shownQuality, shownTime, utcText } from '../format.ts';
import { type Html, html } from '../html.ts';
import { shownProgress } from '../live-events.ts';
import { BASE } from '../route.ts';

/** The states of jobs, as people see them, by which lists are filtered. */
export type JobState = JobInfo['status'] | 'canceled';
export const JOB_STATES: JobState[] = [...JOB_STATUSES, 'canceled'];

const STATES: Record<JobState | 'forgotten', [look: string, label: string]> = {
  queued: ['', 'Queued'],
  running: ['busy', 'Running'],
  completed: ['good', 'Completed'],
  failed: ['bad', 'Failed'],
  // Neutral: the scene did not fail.
  canceled: ['', 'Canceled'],
  forgotten: ['', 'Forgotten'],
};

/** The state of a job: one that was canceled has not failed, and of a forgotten one nothing is left to look at. */
export function stateOf({
  status,
  failedBy,
  forgottenAt,
}: Pick<JobInfo, 'status' | 'failedBy' | 'forgottenAt'>): keyof typeof STATES {
  if (forgottenAt !== null) return 'forgotten';
  return failedBy === 'cancel' ? 'canceled' : status;
}

export function stateLabel(state: JobState): string {
  return STATES[state][1];
}

export function stateTag(job: Parameters<typeof stateOf>[0]): Html {
  const [look, label] = STATES[stateOf(job)];
  return html`<span class="tag ${look}">${label}</span>`;
}

/** Updated by the script while it renders. */
export function progressText(jobId: string, progress: RenderProgress | null): Html {
  return html`<span class="muted" data-progress="${jobId}">${progress ? shownProgress(progress) : ''}</span>`;
}

/** The name of a job in lists; empty once it is forgotten. */
export function jobName({ className, jobId }: JobInfo): Html {
  return html`<a href="${BASE}/jobs/${jobId}">${className || 'Forgotten'}</a>`;
}

/** A table of jobs. `accounts`: with a column of their accounts. `select`: with checkboxes, of the field `jobId`. */
export function jobTable(
  jobs: JobInfo[],
  { accounts, select = false }: { accounts: boolean; select?: boolean },
): Html {
  return html`<div class="scroll"><table class="cards">
<thead><tr>${select && html`<th class="pick"><span class="visually-hidden">Select</span></th>`}<th>Scene</th><th>Status</th>${accounts && html`<th>Account</th>`}<th>Quality</th><th>Created</th><th class="end">Time</th><th class="end">Credits</th></tr></thead>
<tbody>${jobs.map((job) => jobRow(job, { accounts, select }))}</tbody></table></div>`;
}

function jobRow(job: JobInfo, { accounts, select }: { accounts: boolean; select: boolean }): Html {
  const { jobId, status, account, quality, createdAt, durationMs, creditsCost, error, progress } = job;
  const isFailed = stateOf(job) === 'failed';
  return html`<tr>${
    select &&
    html`
<td class="pick"><input type="checkbox" name="jobId" value="${jobId}" aria-label="Select ${job.className || 'forgotten job'} of ${utcText(createdAt)}"></td>`
  }
<th scope="row" class="rowhead fill">${jobName(job)}${isFailed && error !== null && html`<span class="clip small muted">${firstLine(error)}</span>`}${status === 'running' && html`<span class="clip small">${progressText(jobId, progress)}</span>`}</th>
<td data-label="Status">${stateTag(job)}</td>
${accounts && html`<td data-label="Account"><span class="clip">${account}</span></td>`}
<td data-label="Quality" class="wide">${shownQuality(quality)}</td>
<td data-label="Created">${shownTime(createdAt)}</td>
<td data-label="Time" class="end number wide">${shownDuration(durationMs)}</td>
<td data-label="Credits" class="end number">${shownNumber(creditsCost)}</td>
</tr>`;
}

export function firstLine(text: string): string {
  return (text.split('\n').find((line) => line.trim() !== '') ?? '').slice(0, 200);
}
