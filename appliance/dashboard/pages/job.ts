import type { Delivery } from '../../../lib/index.ts';
import type { JobDetails } from '../../admin/administration-views.ts';
import type { JobFiles } from '../../admin/file-views.ts';
import type { SceneOfJob } from '../../admin/scene-views.ts';
import { shownDuration, shownNumber, shownQuality, shownTime } from '../format.ts';
import { type Html, html, longText, type Value } from '../html.ts';
import { filled } from '../language/filled.ts';
import { texts } from '../language/texts.ts';
import { POLLED, page, postButton, toldNote } from '../layout.ts';
import { type Answer, BASE, type Route, type Visit } from '../route.ts';
import { codeCard } from './code-view.ts';
import { ADDRESS_BYTES, answerText, deliveryTag, isPending } from './delivery-views.ts';
import { stateTag } from './job-views.ts';
import { labelForm, starButton, videoName } from './library-views.ts';
import { chosenFormats, otherFormats } from './other-formats.ts';
import { outcome } from './outcome.ts';
import { shareCard, shareSettings, sharesOf } from './share-card.ts';
import { textBox, textRoute } from './texts.ts';
import { usageCard } from './usage-view.ts';

/** Characters of a value of a parameter. */
const MOST_VALUE = 300;
/** Of the files that a job uses. */
const MOST_FILES = 50;

/** The page of each job. */
export function jobRoutes(): Route[] {
  return [
    { method: 'GET', path: '/jobs/{jobId}', for: 'members', handler: jobPage },
    textRoute('/jobs/{jobId}/code', 'scene.py', async (visit) => (await shown(visit)).code),
    textRoute('/jobs/{jobId}/metadata', 'metadata.json', async (visit) => (await shown(visit)).metadataJson),
    textRoute('/jobs/{jobId}/output', 'output.txt', async (visit) => (await shown(visit)).output),
    {
      method: 'POST',
      path: '/jobs/{jobId}/cancel',
      for: 'members',
      async handler({ admin, params }) {
        const { jobId } = await admin.jobs.cancel({ jobId: params['jobId'] ?? '' });
        return { to: `/jobs/${jobId}` };
      },
    },
    {
      method: 'POST',
      path: '/jobs/{jobId}/render-again',
      for: 'members',
      async handler({ admin, params, formValues }) {
        const formats = chosenFormats(formValues('formats'));
        const { jobId } = await admin.jobs.renderAgain({ jobId: params['jobId'] ?? '', formats });
        return { to: `/jobs/${jobId}` };
      },
    },
    { method: 'GET', path: '/jobs/{jobId}/forget', for: 'members', handler: forgetPage },
    {
      method: 'POST',
      path: '/jobs/{jobId}/forget',
      for: 'members',
      async handler({ admin, params }) {
        const { jobId } = await admin.jobs.forget({ jobId: params['jobId'] ?? '' });
        return { to: `/jobs/${jobId}` };
      },
    },
  ];
}

function shown({ admin, params }: Visit): Promise<JobDetails> {
  return admin.jobs.showDetails({ jobId: params['jobId'] ?? '' });
}

async function jobPage(visit: Visit): Promise<Html> {
  const { admin, viewer, csrf } = visit;
  const job = await shown(visit);
  const { jobId } = job;
  const files = await admin.files.ofJob({ jobId });
  const scene = await admin.scenes.ofJob({ jobId });
  const deliveries = await admin.deliveries.list({ jobId, limit: 20 });
  const shares = await sharesOf(job, visit);
  const code = region('source', source(job));
  return page(
    {
      title: videoName(job),
      actions: starButton(job, visit),
      section: 'jobs',
      viewer,
      csrf,
      lead: html`<code>${jobId}</code>`,
    },
    toldNote(visit.told),
    html`<div class="columns">
<div class="stack">${region('outcome', await outcome(job, visit))}${!shares && code}</div>
<div class="stack">
${region('share', shareCard(job, shares, visit))}
${region('share-settings', shareSettings(job, shares, visit))}
${region('labels', labelForm(job, visit))}
${region('facts', html`<section class="card">${facts(job, scene)}<div class="actions">${actions(job, csrf)}</div></section>`)}
${region('formats', otherFormats(job, csrf))}
${region('params', paramsCard(job))}
${region('times', usageCard(job))}
${region('files', fileCard(files))}
${region('metadata', metadata(job))}
${region('deliveries', deliveryCard(deliveries))}
</div>${shares && code}</div>`,
  );
}

/** A part of the page that is replaced alone, so that a video goes on playing while other parts change. */
function region(id: string, content: Value): Html {
  return html`<div id="${id}" data-live class="part">${content}</div>`;
}

function source({ jobId, code, diagnosis, plays }: JobDetails): Html | false {
  if (code === null) return false;
  return codeCard(code, {
    whole: `/jobs/${jobId}/code`,
    marked: diagnosis?.line ?? undefined,
    linked: plays.map(({ line }) => line),
  });
}

function metadata({ jobId, metadataJson }: JobDetails): Html | false {
  if (metadataJson === null) return false;
  return html`<section class="card"><h2>${texts().job.metadata}</h2>${textBox(metadataJson, { whole: `/jobs/${jobId}/metadata` })}</section>`;
}

function facts(job: JobDetails, scene: SceneOfJob | null): Html {
  const { job: t, common, scenes } = texts();
  return html`<dl class="details">
<dt>${common.status}</dt><dd>${stateTag(job)}</dd>
${scene && html`<dt>${common.scene}</dt><dd><a href="${BASE}/scenes/${scene.sceneId}">${scenes.nameAndVersion(scene.name, scene.version)}</a></dd>`}
<dt>${common.account}</dt><dd>${job.account}</dd>
<dt>${common.quality}</dt><dd>${shownQuality(job.quality)}, ${job.aspectRatio}, ${t.fps(job.fps)}</dd>
${partText(job) && html`<dt>${t.part}</dt><dd>${partText(job)}</dd>`}
<dt>${common.created}</dt><dd>${shownTime(job.createdAt)}</dd>
${job.startedAt !== null && html`<dt>${t.started}</dt><dd>${shownTime(job.startedAt)}</dd>`}
${job.completedAt !== null && html`<dt>${t.ended}</dt><dd>${shownTime(job.completedAt)}</dd>`}
<dt>${common.renderTime}</dt><dd>${shownDuration(job.durationMs)}</dd>
<dt>${common.credits}</dt><dd>${shownNumber(job.creditsCost)}</dd>
<dt>${t.attempts}</dt><dd>${job.attempts}</dd>
<dt>${common.webhook}</dt><dd>${longText(job.webhookUrl ?? '–', ADDRESS_BYTES)}</dd>
</dl>`;
}

/** Which plays its video has; empty: all. */
function partText({ fromPlay, toPlay }: JobDetails): string {
  const { job: t } = texts();
  if (toPlay !== null) return t.plays(fromPlay ?? 0, toPlay);
  return fromPlay === null ? '' : t.playsFrom(fromPlay);
}

function actions({ jobId, status, code, forgottenAt }: JobDetails, csrf: string): Value {
  if (status === 'queued' || status === 'running') {
    return postButton({ to: `/jobs/${jobId}/cancel`, csrf, label: texts().common.cancel });
  }
  return [
    code !== null &&
      postButton({
        to: `/jobs/${jobId}/render-again`,
        csrf,
        label: texts().common.renderAgain,
        look: 'primary',
      }),
    code !== null &&
      html`<a class="button" href="${BASE}/playground?job=${jobId}">${texts().job.openInPlayground}</a>`,
    forgottenAt === null &&
      html`<a class="button" href="${BASE}/jobs/${jobId}/forget">${texts().job.forget}</a>`,
  ];
}

/** The values that a scene was given for its parameters. */
function paramsCard({ params }: JobDetails): Html | false {
  const values = Object.entries(params ?? {});
  if (values.length === 0) return false;
  return html`<section class="card"><h2>${texts().common.parameters}</h2><dl class="details">${values.map(
    ([name, value]) => html`<dt><code>${name}</code></dt><dd>${shortValue(value)}</dd>`,
  )}</dl></section>`;
}

function shortValue(value: unknown): Html {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= MOST_VALUE ? html`${text}` : html`${text.slice(0, MOST_VALUE)}…`;
}

/** A file that was replaced or removed, or came with the request, has no page. */
function fileCard({ files, note }: JobFiles): Html | false {
  if (files.length === 0 && note === null) return false;
  const { job: t, counts } = texts();
  const items = files
    .slice(0, MOST_FILES)
    .map(({ name, fileId, isKept }) =>
      isKept
        ? html`<li><a href="${BASE}/files/${fileId}">${name}</a></li>`
        : html`<li><span>${name}</span><span class="small muted">${t.ofThisJobOnly}</span></li>`,
    );
  const more = files.length - MOST_FILES;
  return html`<section class="card flush"><header><h2>${t.files}</h2>${more > 0 && html`<span class="small muted">${t.someFiles(shownNumber(MOST_FILES), counts.files(files.length))}</span>`}</header>${note !== null && html`<p class="note">${note}</p>`}${files.length > 0 && html`<ul class="list">${items}</ul>`}</section>`;
}

function deliveryCard(deliveries: Delivery[]): Html | false {
  if (deliveries.length === 0) return false;
  const items = deliveries.map(
    (delivery) =>
      html`<li><span><a href="${BASE}/webhooks/${delivery.deliveryId}">${delivery.url}</a><span class="clip small muted">${delivery.event}${delivery.repeats !== null && texts().job.sentAgain}</span></span>${deliveryTag(delivery)}${attemptList(delivery)}</li>`,
  );
  return html`<section class="card flush"><header><h2>${texts().common.webhook}</h2></header>${deliveries.some(isPending) && POLLED}<ul class="list">${items}</ul></section>`;
}

function attemptList({ attempts }: Delivery): Html {
  if (attempts.length === 0) return html`<p class="small muted">${texts().job.notSentYet}</p>`;
  const items = attempts.map(
    ({ startedAt, endedAt, status, reason }) =>
      html`<li>${shownTime(startedAt)} <span>${answerText(endedAt === null ? null : status, reason)}</span></li>`,
  );
  return html`<ol class="attempts small muted" aria-label="${texts().job.attempts}">${items}</ol>`;
}

async function forgetPage(visit: Visit): Promise<Answer> {
  const { viewer, csrf } = visit;
  const job = await shown(visit);
  if (job.forgottenAt !== null) return { to: `/jobs/${job.jobId}` };
  const { job: t, common } = texts();
  return page(
    { title: t.forgetTitle, section: 'jobs', viewer, csrf },
    html`<section class="card">
<p>${filled(t.forgetText, { name: html`<strong>${job.className}</strong>` })}</p>
<div class="actions">${postButton({ to: `/jobs/${job.jobId}/forget`, csrf, label: t.forgetTitle, look: 'danger' })}<a class="button" href="${BASE}/jobs/${job.jobId}">${common.cancel}</a></div>
</section>`,
  );
}
