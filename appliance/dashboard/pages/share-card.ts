import type { JobDetails } from '../../admin/administration-views.ts';
import type { ShareInfo } from '../../admin/share-views.ts';
import { type Html, html, type Value } from '../html.ts';
import { texts } from '../language/texts.ts';
import { postButton } from '../layout.ts';
import { BASE, type Route, type Visit } from '../route.ts';
import { settingsForm } from './share-settings.ts';
import { linkOf, openButton, revokeButton, shareFacts, shareTag } from './share-views.ts';

/** Links to a video that are read for its page. */
const MOST_READ = 20;

/** What the page of a job shows of the links to its video. */
export interface JobShares {
  /** The newest link that shows this video alone and was not revoked. */
  shown: ShareInfo | undefined;
  /** Whether there are others, such as playlists. */
  hasOthers: boolean;
}

/** The links to the video of a job; undefined for one that cannot be shared. */
export async function sharesOf(
  { jobId, status, artifacts, forgottenAt }: JobDetails,
  { admin }: Visit,
): Promise<JobShares | undefined> {
  if (status !== 'completed' || forgottenAt !== null) return undefined;
  const { shares } = await admin.shares.list({ jobId, limit: MOST_READ });
  if (shares.length === 0 && !artifacts.some(({ name }) => name === 'video.mp4')) return undefined;
  const shown = shares.find(({ state, jobIds }) => state !== 'revoked' && jobIds.length === 1);
  return { shown, hasOthers: shares.some((share) => share !== shown) };
}

/** The card of a job that creates a link to its video, or shows it. */
export function shareCard({ jobId }: JobDetails, shares: JobShares | undefined, visit: Visit): Value {
  if (!shares) return false;
  const { shares: t } = texts();
  const { shown, hasOthers } = shares;
  const all = hasOthers && html`<a class="small" href="${BASE}/shares?job=${jobId}">${t.allOfJob}</a>`;
  const create = (label: string, look: 'link' | '' = '') =>
    postButton({ to: `/jobs/${jobId}/share`, csrf: visit.csrf, label, look });
  if (!shown)
    return html`<section class="card" id="share-card"><header><h2>${t.share}</h2>${all}</header><p class="muted">${t.intro}</p><div class="actions">${create(t.create)}</div></section>`;
  return html`<section class="card" id="share-card"><header><h2>${t.share} ${shareTag(shown)}</h2>${all}</header>
${linkOf(shown, visit)}
<dl class="details">${shareFacts(shown, { settings: true })}</dl>
<div class="actions">${openButton(shown, visit)}${revokeButton(shown)}${create(t.createAnother, 'link')}</div></section>`;
}

/** The settings of the link that the card shows. */
export function shareSettings(
  { jobId, plays }: JobDetails,
  shares: JobShares | undefined,
  { csrf }: Visit,
): Html | false {
  if (!shares?.shown) return false;
  const form = settingsForm(
    { ...shares.shown, plays },
    { csrf },
    { back: `${BASE}/jobs/${jobId}`, look: 'fields' },
  );
  return html`<details class="card more"><summary>${texts().shares.settings}</summary>${form}</details>`;
}

/** Creates a link to the video of a job, with one click. */
export function createRoute(): Route {
  return {
    method: 'POST',
    path: '/jobs/{jobId}/share',
    for: 'members',
    async handler({ admin, params }) {
      const { jobId, account } = await admin.jobs.show({ jobId: params['jobId'] ?? '' });
      await admin.shares.create({ account, jobIds: [jobId] });
      return { to: `/jobs/${jobId}#share-card` };
    },
  };
}
