import { createHash, randomUUID } from 'node:crypto';
import type { Quality, RenderRequest } from '../../../lib/index.ts';
import { isScenepressError, QUALITIES, ScenepressError } from '../../../lib/internal.ts';
import { MAX_BODY_BYTES } from '../../../lib/web/index.ts';
import type { RemoteAdministration } from '../../admin/admin-socket.ts';
import type { JobDetails } from '../../admin/administration-views.ts';
import type { InspectionInfo } from '../../admin/job-pictures.ts';
import { httpErrorOf } from '../../http/http-errors.ts';
import { PLAYGROUND_ASSET } from '../assets/assets.ts';
import { EXAMPLES } from '../assets/examples.ts';
import { shownDuration } from '../format.ts';
import { type Html, html, isShort, type Value, wholeText } from '../html.ts';
import { filled } from '../language/filled.ts';
import { texts } from '../language/texts.ts';
import { csrfField, note, page, postButton } from '../layout.ts';
import { BASE, type Route, type Visit } from '../route.ts';
import { SNIPPETS, type SnippetName } from '../snippets.ts';
import { inspection } from './inspection.ts';
import { lastVideo, outcome } from './outcome.ts';
import {
  choice,
  FILES_ROUTE,
  filePicker,
  gallery,
  nothingYet,
  paramsIn,
  qualityLabels,
  shownParams,
  tooLong,
  tools,
} from './playground-parts.ts';

/** Each byte of the code may take three in a form. */
const MOST_FORM_BYTES = 3 * MAX_BODY_BYTES + 16 * 1024;

/** What is edited of a code: nearly all that may be posted, unless most of it is characters that HTML escapes. */
const MOST_EDITED_BYTES = 260_000;
/** More would only make a long list. */
const MOST_OFFERED = 200;
/** Of a command or a program; the script of the page writes longer ones. */
const MOST_SNIPPET_BYTES = 30_000;

const SNIPPET_LABELS: Record<SnippetName, string> = { curl: 'curl', node: 'Node', python: 'Python' };

/** The contents of the form. */
interface Draft {
  code: string;
  /** Empty: the only scene of the code. */
  className: string;
  /** As far as they are known. */
  scenes: string[];
  quality: string;
  aspectRatio: string;
  /** Empty: the default of the quality. */
  fps: string;
  /** JSON; empty: none. */
  params: string;
}

/** What a page shows beside the form. */
interface Shown {
  job?: JobDetails | undefined;
  /** The last one before it that has completed. */
  last?: JobDetails | undefined;
  problem?: string;
  inspected?: InspectionInfo;
}

/** An editor whose scenes can be rendered. */
export function playgroundRoutes(): Route[] {
  return [
    { method: 'GET', path: '/playground', for: 'members', handler: openPage },
    FILES_ROUTE,
    { method: 'POST', path: '/playground', for: 'members', mostBytes: MOST_FORM_BYTES, handler: render },
    {
      method: 'POST',
      path: '/playground/scenes',
      for: 'members',
      mostBytes: MOST_FORM_BYTES,
      handler: async (visit) => ({ response: visit.h.response(await scenesIn(visit)) }),
    },
    {
      method: 'POST',
      path: '/playground/check',
      for: 'members',
      mostBytes: MOST_FORM_BYTES,
      handler: async (visit) => ({ response: visit.h.response(await findingsIn(visit, 'check')) }),
    },
    {
      method: 'POST',
      path: '/playground/read',
      for: 'members',
      mostBytes: MOST_FORM_BYTES,
      handler: async (visit) => ({ response: visit.h.response(await findingsIn(visit, 'read')) }),
    },
    {
      method: 'POST',
      path: '/playground/inspect',
      for: 'members',
      mostBytes: MOST_FORM_BYTES,
      handler: inspect,
    },
    {
      method: 'GET',
      path: '/pictures/{snapshotId}/{name}',
      for: 'members',
      async handler({ admin, viewer, params, h }) {
        const { snapshotId = '', name = '' } = params;
        const picture = await admin.jobs.showPicture({ account: viewer.accountId, snapshotId, name });
        return {
          response: h
            .response(Buffer.from(picture.base64, 'base64'))
            .type(picture.contentType)
            .header('Cache-Control', 'private, max-age=3600'),
        };
      },
    },
  ];
}

async function openPage(visit: Visit): Promise<Html> {
  const { admin, query } = visit;
  const jobId = query['job'];
  if (jobId !== undefined) {
    const job = await admin.jobs.showDetails({ jobId });
    const last = await shownBefore(visit, query['last']);
    const { className, quality, aspectRatio, fps } = job;
    const fpsOf = fps === QUALITIES[quality as Quality].fps ? '' : String(fps);
    const code = job.code ?? '';
    const params = job.params === null ? '' : JSON.stringify(job.params);
    return playground(
      visit,
      { code, className, scenes: [className], quality, aspectRatio, fps: fpsOf, params },
      { job, last },
    );
  }
  const example = EXAMPLES.find(({ name }) => name === query['example']) ?? EXAMPLES[0];
  const { code, className, aspectRatio } = example;
  return playground(visit, {
    code,
    className,
    scenes: [className],
    quality: 'low',
    aspectRatio,
    fps: '',
    params: '',
  });
}

async function render(visit: Visit) {
  const { form, viewer } = visit;
  const draft = draftIn(form);
  const [job, last] = await Promise.all([shownBefore(visit, form['job']), shownBefore(visit, form['last'])]);
  try {
    const request = await requestOf(visit, draft);
    const idempotencyKey = form['once'] && onceFor(form['once'], request);
    const jobId = await renderInstead(visit, job, {
      account: viewer.accountId,
      ...request,
      ...(idempotencyKey && { idempotencyKey }),
    });
    const good = job?.status === 'completed' ? job : last;
    return { to: `/playground?${new URLSearchParams({ job: jobId, ...(good && { last: good.jobId }) })}` };
  } catch (error) {
    return refused(visit, draft, error, { job, last });
  }
}

async function inspect(visit: Visit) {
  const { admin, form, viewer } = visit;
  const draft = draftIn(form);
  const [job, last] = await Promise.all([shownBefore(visit, form['job']), shownBefore(visit, form['last'])]);
  try {
    const request = await requestOf(visit, draft);
    const inspected = await admin.jobs.inspect({ account: viewer.accountId, ...request });
    return playground(visit, draft, { job, last, inspected });
  } catch (error) {
    return refused(visit, draft, error, { job, last });
  }
}

/** What the form asks for; finds the only scene. Errors: `invalid_request`, and those of listing scenes. */
async function requestOf({ admin, viewer }: Visit, draft: Draft) {
  requireCode(draft.code);
  if (draft.className === '') {
    const { scenes } = await admin.jobs.listScenes({ account: viewer.accountId, code: draft.code });
    draft.scenes = scenes;
    draft.className = onlyOne(scenes);
  }
  const { code, className, quality, aspectRatio, fps } = draft;
  const request = { code, className, quality, aspectRatio } as RequestOfForm;
  const params = paramsIn(draft.params);
  return { ...request, ...(fps !== '' && { fps: Number(fps) }), ...(params && { params }) };
}

type RequestOfForm = Required<Pick<RenderRequest, 'code' | 'className' | 'quality' | 'aspectRatio'>>;

/** The page with why a form was refused. */
async function refused(visit: Visit, draft: Draft, error: unknown, shown: Shown) {
  if (!isScenepressError(error)) throw error;
  const { status, body } = httpErrorOf(error);
  const problem = body.message ?? body.error;
  return { page: await playground(visit, draft, { ...shown, problem }), status };
}

/** A job that the page showed; undefined if it shows none, or one that may not be seen. */
async function shownBefore({ admin }: Visit, jobId: string | undefined): Promise<JobDetails | undefined> {
  if (!jobId) return undefined;
  return admin.jobs.showDetails({ jobId }).catch((error: unknown) => {
    if (!isScenepressError(error, 'not_found')) throw error;
    return undefined;
  });
}

/** The same form makes one job of the same request, also if it is sent twice. */
function onceFor(once: string, request: object): string {
  return createHash('sha256')
    .update(JSON.stringify([once, request]))
    .digest('hex');
}

/**
 * Renders, and cancels the job that the page shows, if it has not ended: of two renders of one editor, only the later is
 * wanted, and would wait for the earlier.
 */
async function renderInstead(
  { admin, viewer }: Visit,
  shown: JobDetails | undefined,
  request: Parameters<RemoteAdministration['jobs']['render']>[0],
): Promise<string> {
  const isActive = shown?.status === 'queued' || shown?.status === 'running';
  const replaced = isActive && shown.account === viewer.email ? shown : undefined;
  const cancel = async () => {
    if (!replaced) return;
    await admin.jobs.cancel({ jobId: replaced.jobId }).catch((error: unknown) => {
      // It has ended meanwhile.
      if (!isScenepressError(error, 'conflict')) throw error;
    });
  };
  try {
    const { jobId } = await admin.jobs.render(request);
    if (jobId !== replaced?.jobId) await cancel();
    return jobId;
  } catch (error) {
    // Its credits and its place become free.
    if (!replaced || !isScenepressError(error, 'insufficient_credits', 'queue_full')) throw error;
    await cancel();
    return (await admin.jobs.render(request)).jobId;
  }
}

function onlyOne(scenes: string[]): string {
  const [scene, ...others] = scenes;
  if (scene === undefined) {
    throw new ScenepressError('invalid_request', texts().playground.noScene);
  }
  if (others.length > 0) {
    throw new ScenepressError('invalid_request', texts().playground.chooseScene(scenes.join(', ')));
  }
  return scene;
}

function requireCode(code: string): void {
  const { playground: t } = texts();
  if (code.trim() === '') throw new ScenepressError('invalid_request', t.codeIsRequired);
  if (Buffer.byteLength(code) > MAX_BODY_BYTES) {
    throw new ScenepressError('invalid_request', t.codeIsTooLong(MAX_BODY_BYTES / 1024));
  }
}

/** For the script: the scenes of the code, or why it can't be run. */
async function scenesIn({ admin, form, viewer }: Visit): Promise<object> {
  const { code } = draftIn(form);
  try {
    requireCode(code);
    return await admin.jobs.listScenes({ account: viewer.accountId, code });
  } catch (error) {
    if (!isScenepressError(error)) throw error;
    // Errors in the code; others are passed on.
    return isScenepressError(error, 'invalid_request') ? { error: error.message } : {};
  }
}

/** For the script: what is wrong with the code, as far as that is known in time, by running or by reading it. */
async function findingsIn({ admin, form, viewer }: Visit, how: 'check' | 'read'): Promise<object> {
  const { code, className, params } = draftIn(form);
  try {
    requireCode(code);
    const asked = { ...(className !== '' && { className }), params: paramsIn(params) };
    return await admin.jobs[how]({ account: viewer.accountId, code, ...asked });
  } catch (error) {
    if (!isScenepressError(error)) throw error;
    return { findings: [] };
  }
}

function draftIn(form: Record<string, string>): Draft {
  const { className = '', quality = 'medium', aspectRatio = '16:9', fps = '', params = '' } = form;
  const scenes = className === '' ? [] : [className];
  // Forms send line breaks as CR LF.
  const code = (form['code'] ?? '').replaceAll('\r\n', '\n');
  return { code, className, scenes, quality, aspectRatio, fps: fps.trim(), params };
}

async function playground(
  visit: Visit,
  draft: Draft,
  { job, last, problem, inspected }: Shown = {},
): Promise<Html> {
  const { playground: t, common } = texts();
  const { viewer, csrf, publicUrl } = visit;
  const keys = html`<kbd>${t.ctrl}</kbd> <kbd>${t.enter}</kbd>`;
  const isEditable = isShort(draft.code, MOST_EDITED_BYTES);
  return page(
    {
      title: t.title,
      section: 'playground',
      viewer,
      csrf,
      script: PLAYGROUND_ASSET.path,
      scriptTexts: t.script,
    },
    html`<div id="problem">${problem !== undefined && note('bad', problem)}${!isEditable && note('warn', tooLong(job))}</div>
<div class="playground" id="playground" data-account="${viewer.accountId}" data-public-url="${publicUrl}">
<form method="post" action="${BASE}/playground" class="card flush">${csrfField(csrf)}
<input type="hidden" name="job" value="${job?.jobId}"><input type="hidden" name="last" value="${last?.jobId}"><input type="hidden" name="once" value="${randomUUID()}">
<div class="toolbar">
${choice(common.scene, 'className', draft.className, [['', t.onlyScene], ...draft.scenes.slice(0, MOST_OFFERED).map((name): [string, string] => [name, name])])}
${choice(common.quality, 'quality', draft.quality, qualityLabels())}
${choice(t.format, 'aspectRatio', draft.aspectRatio, [
  ['16:9', '16:9'],
  ['9:16', '9:16'],
])}
<label>${t.fps}<input name="fps" inputmode="numeric" pattern="[1-9][0-9]*" size="4" value="${draft.fps}" placeholder="${t.auto}" autocomplete="off"></label>
<span class="actions"><button formaction="${BASE}/playground/inspect" title="${t.inspectHint}">${t.inspect}</button><button class="primary" title="${t.renderHint}">${t.render}</button></span>
</div>
${tools(draft.params)}
<div id="kept" class="kept small" hidden>${t.drafts} <span class="actions"></span></div>
<textarea name="code" class="mono" aria-label="${t.code}" spellcheck="false" autocapitalize="off" autocomplete="off" wrap="off" rows="26" required>\n${wholeText(isEditable ? draft.code : '')}</textarea>
<div id="editor" class="editor" hidden></div>
<p class="keys small muted"><button type="button" class="link" id="insert-file" hidden>${t.insertFile}</button>${filled(t.renders, { keys })}<span>${filled(t.leaves, { esc: html`<kbd>Esc</kbd>`, tab: html`<kbd>Tab</kbd>` })}</span></p>
</form>${filePicker()}
<div class="stack"><div id="inspection">${inspected && inspection(inspected)}</div>
<div id="result" class="stack" data-live>${job ? await result(job, visit, last) : nothingYet()}</div></div>
</div>
${gallery()}
${snippets(draft, publicUrl)}`,
  );
}

async function result(job: JobDetails, visit: Visit, last: JobDetails | undefined): Promise<Value> {
  const { playground: t, common, counts } = texts();
  const { assetUrl, csrf } = visit;
  const { jobId, status, error, diagnosis, durationMs, creditsCost } = job;
  const isOver = status === 'completed' || status === 'failed';
  return html`<div class="stack" data-job="${jobId}" data-status="${status}" data-line="${diagnosis?.line ?? undefined}" data-error="${error}" data-hint="${diagnosis?.hint ?? undefined}">
${await outcome(job, visit)}
<div class="actions small muted">${
    isOver
      ? html`<span>${shownDuration(durationMs)} · ${counts.credits(creditsCost)} · <a href="${BASE}/jobs/${jobId}">${t.openJob}</a></span>`
      : [
          postButton({ to: `/jobs/${jobId}/cancel`, csrf, label: common.cancel }),
          html`<span>${t.replacesIt}</span>`,
        ]
  }</div>${status === 'failed' && last && lastVideo(last, assetUrl)}</div>`;
}

function snippets({ code, className, quality, aspectRatio, fps, params }: Draft, publicUrl: string): Html {
  const { playground: t, common } = texts();
  const more = {
    ...(fps !== '' && { fps: Number(fps) }),
    ...shownParams(params),
  };
  const request = { code, className, quality, aspectRatio, ...more };
  const names = Object.keys(SNIPPETS) as SnippetName[];
  const isWritten = isShort(code, MOST_SNIPPET_BYTES);
  const textOf = (name: SnippetName) => {
    const text = isWritten ? SNIPPETS[name](request, publicUrl) : '';
    return isWritten && isShort(text, MOST_SNIPPET_BYTES) ? wholeText(text) : t.tooLongForSnippet;
  };
  return html`<section class="stack" aria-labelledby="snippets-title"><div><h2 id="snippets-title">${t.fromProgram}</h2>
<p class="muted">${filled(t.fromProgramText, { key: html`<a href="${BASE}/keys">${t.apiKey}</a>` })}</p></div>
<div class="card flush">${names.map(
    (name) =>
      html`<details class="snippet"><summary>${SNIPPET_LABELS[name]}</summary><div class="stack"><div class="actions"><button type="button" data-copy="snippet-${name}" hidden>${common.copy}</button></div><pre class="wrap" id="snippet-${name}" tabindex="0">${textOf(name)}</pre></div></details>`,
  )}</div></section>`;
}
