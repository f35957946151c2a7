import type { JobInfo } from '../../admin/administration-views.ts';
import type { ShownShare } from '../../admin/share-views.ts';
import { type Html, html, type Value } from '../html.ts';
import { texts } from '../language/texts.ts';
import { csrfField, emptyState } from '../layout.ts';
import { type Answer, BASE, type Route, type Visit } from '../route.ts';
import { sharePath, thumbnailOf, videoName } from './share-views.ts';

/** Videos that are offered at once. */
const OFFERED = 12;
/** Characters of a video's name in the labels of its buttons, of which a page may have 300. */
const LONGEST_LABEL = 60;

/** Changes which videos a share has, and their order. */
export function arrangeRoute(): Route {
  return { method: 'POST', path: '/shares/{shareId}/videos', for: 'members', handler: arrange };
}

async function arrange({ admin, form, params }: Visit): Promise<Answer> {
  const shareId = params['shareId'] ?? '';
  const path = sharePath(shareId);
  const { up = '', down = '', out = '', add = '', find = '' } = form;
  if (add !== '') {
    await admin.shares.update({ shareId, addJobIds: [add] });
    return { to: `${path}?${new URLSearchParams({ find })}#add-videos` };
  }
  if (out !== '') {
    await admin.shares.update({ shareId, removeJobIds: [out] });
    return { to: `${path}#videos` };
  }
  const jobId = up || down;
  const { jobIds } = await admin.shares.show({ shareId });
  const place = Math.max(0, jobIds.indexOf(jobId) + (up ? -1 : 1));
  await admin.shares.update({ shareId, moveJob: { jobId, place: Math.min(place, jobIds.length - 1) } });
  // The keyboard goes on where the video is now.
  return { to: `${path}#video-${jobId}` };
}

/** The videos of a share in their order, and what changes it. */
export function videoCard(share: ShownShare, visit: Visit): Html {
  const { shares: t } = texts();
  const { shareId, videos, state } = share;
  const canChange = state !== 'revoked';
  const items = videos.map((video, at) => {
    const { jobId } = video;
    const name = videoName(video);
    const label = shortened(name);
    const button = (act: string, says: string, shown: string) =>
      html`<button name="${act}" value="${jobId}" aria-label="${says}">${shown}</button>`;
    const buttons =
      canChange &&
      videos.length > 1 &&
      html`<span class="actions">${at > 0 && button('up', t.moveUp(label), '↑')}${at < videos.length - 1 && button('down', t.moveDown(label), '↓')}${button('out', t.takeOutOf(label), t.takeOut)}</span>`;
    return html`<li id="video-${jobId}"><span class="file">${thumbnailOf(video, visit)}<a class="clamp" href="${BASE}/jobs/${jobId}">${name}</a></span>${buttons}</li>`;
  });
  const list = html`<ol class="list">${items}</ol>`;
  return html`<section class="card flush" id="videos"><header><h2>${videos.length === 1 ? t.video : t.videos}</h2>${canChange && html`<a href="${BASE}${sharePath(shareId)}?find=#add-videos">${t.addVideos}</a>`}</header>
${canChange ? html`<form method="post" action="${BASE}${sharePath(shareId)}/videos">${csrfField(visit.csrf)}${list}</form>` : list}</section>`;
}

/** The completed videos of the account that the share lacks, with a search; false unless they are asked for. */
export async function addCard(share: ShownShare, visit: Visit): Promise<Html | false> {
  const { shares: t, common, library } = texts();
  const { csrf, query } = visit;
  const { find } = query;
  if (find === undefined || share.state === 'revoked') return false;
  const { jobs, next, isComplete } = await offered(share, visit);
  const path = `${BASE}${sharePath(share.shareId)}`;
  const cursor = next !== null && new URLSearchParams({ find, cursor: next });
  return html`<section class="card flush" id="add-videos"><header><h2>${t.addVideos}</h2></header>
<form method="get" action="${path}#add-videos" class="finder" role="search"><input type="search" name="find" value="${find}" placeholder="${library.search}" aria-label="${library.search}" maxlength="200" autocomplete="off"><button>${library.find}</button></form>
${
  jobs.length === 0
    ? emptyState(t.noneToAdd, t.noneToAddText)
    : html`<form method="post" action="${path}/videos">${csrfField(csrf)}<input type="hidden" name="find" value="${find}"><ul class="list">${jobs.map((job) => offer(job, visit))}</ul></form>`
}${!isComplete && html`<p class="small muted">${library.stillReading}</p>`}${cursor && html`<nav class="paging" aria-label="${common.pages}"><a href="${path}?${String(cursor)}#add-videos" rel="next">${library.older}</a></nav>`}</section>`;
}

function offer(job: JobInfo, visit: Visit): Value {
  const { shares: t } = texts();
  const { jobId, className, artifacts } = job;
  const name = videoName({ name: job.title ?? className });
  const hasThumbnail = artifacts.some((artifact) => artifact.name === 'thumbnail.jpg');
  return html`<li><span class="file">${thumbnailOf({ jobId, hasThumbnail }, visit)}<a class="clamp" href="${BASE}/jobs/${jobId}">${name}</a></span><span class="actions"><button name="add" value="${jobId}" aria-label="${t.addOf(shortened(name))}">${t.add}</button></span></li>`;
}

function shortened(name: string): string {
  return name.length > LONGEST_LABEL ? `${name.slice(0, LONGEST_LABEL).toWellFormed()}…` : name;
}

interface Offered {
  jobs: JobInfo[];
  next: string | null;
  isComplete: boolean;
}

async function offered({ account, jobIds }: ShownShare, { admin, query }: Visit): Promise<Offered> {
  const text = query['find']?.trim();
  const cursor = query['cursor'] || undefined;
  // Those that the share has are left out.
  const request = { account, status: 'completed' as const, limit: OFFERED + jobIds.length };
  const found = text
    ? await admin.jobs.find({ ...request, text, cursor })
    : { ...(await admin.jobs.search({ ...request, before: cursor })), isComplete: true };
  const jobs = found.jobs.filter(({ jobId, forgottenAt }) => forgottenAt === null && !jobIds.includes(jobId));
  const shown = jobs.slice(0, OFFERED);
  return { ...found, jobs: shown, next: jobs.length > OFFERED ? (shown.at(-1)?.jobId ?? null) : found.next };
}
