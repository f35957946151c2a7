import { buffer } from 'node:stream/consumers';
import { FILE_KINDS, isScenepressError, kindOfName } from '../../../lib/internal.ts';
import { byteRangeOf } from '../../../lib/web/index.ts';
import type { JobInfo } from '../../admin/administration-views.ts';
import type { FileInfo } from '../../admin/file-views.ts';
import { httpErrorOf } from '../../http/http-errors.ts';
import { shownSize, shownTime } from '../format.ts';
import { type Html, html, longText, type Value, wholeText } from '../html.ts';
import { filled } from '../language/filled.ts';
import { texts } from '../language/texts.ts';
import { csrfField, note, page, postButton, toldNote } from '../layout.ts';
import { type Answer, BASE, type Route, type Visit } from '../route.ts';
import { contentUrl, filesPath, folderOf, kindLabel, playerOf, usageOf } from './file-views.ts';
import { jobName, stateTag } from './job-views.ts';

/** Jobs that use a file. */
const MOST_JOBS = 10;
const MOST_TEXT_BYTES = 4_000;
const MOST_LINES = 40;

/** What browsers decode as pictures, and show when they are opened. All others are saved. */
const SHOWN_ALONE = new Set(['png', 'jpg', 'jpeg', 'gif', 'webp']);
const SENT_AS_THEY_ARE = new Set(['picture', 'drawing', 'sound']);
/** A drawing may have scripts: in an `<img>` they don't run, and it is no document of this origin anywhere else. */
const SANDBOX = "sandbox; default-src 'none'; style-src 'unsafe-inline'";

/** The page of each file. */
export function fileRoutes(): Route[] {
  return [
    { method: 'GET', path: '/files/{fileId}', for: 'members', handler: (visit) => filePage(visit) },
    { method: 'GET', path: '/files/{fileId}/content', for: 'members', handler: content },
    { method: 'POST', path: '/files/{fileId}/rename', for: 'members', handler: rename },
    { method: 'GET', path: '/files/{fileId}/remove', for: 'members', handler: removePage },
    {
      method: 'POST',
      path: '/files/{fileId}/remove',
      for: 'members',
      async handler(visit) {
        const { admin, params } = visit;
        const file = await admin.files.remove({ fileId: params['fileId'] ?? '' });
        const text = texts().files.wasRemoved(file.name);
        return { to: listOf(visit, file), tell: { note: { kind: 'good', text } } };
      },
    },
  ];
}

async function rename(visit: Visit): Promise<Answer> {
  const { admin, form, params } = visit;
  const { fileId = '' } = params;
  try {
    const { name } = await admin.files.rename({ fileId, name: (form['name'] ?? '').trim().normalize() });
    const text = texts().files.wasRenamed(name);
    return { to: `/files/${fileId}`, tell: { note: { kind: 'good', text } } };
  } catch (error) {
    if (!isScenepressError(error, 'invalid_request', 'conflict')) throw error;
    return { page: await filePage(visit, note('bad', error.message)), status: httpErrorOf(error).status };
  }
}

function shown({ admin, params }: Visit): Promise<FileInfo> {
  return admin.files.show({ fileId: params['fileId'] ?? '' });
}

/** The list that a file stands in. */
function listOf(visit: Visit, { account, name }: Pick<FileInfo, 'account' | 'name'>): string {
  return filesPath({ ...visit, query: { account } }, { folder: folderOf(name).slice(0, -1) });
}

async function filePage(visit: Visit, problem?: Html): Promise<Html> {
  const { files: t, common } = texts();
  const { admin, viewer, csrf, told } = visit;
  const file = await shown(visit);
  const { fileId, name, kind, sizeBytes, sha256, createdAt, account } = file;
  const folder = folderOf(name);
  const [preview, jobs] = await Promise.all([
    previewOf(visit, file),
    admin.jobs.listUsing({ fileId, limit: MOST_JOBS }),
  ]);
  return page(
    {
      title: name.slice(folder.length),
      section: 'files',
      viewer,
      csrf,
      lead:
        folder !== '' &&
        filled(t.inFolder, { folder: html`<a href="${BASE}${listOf(visit, file)}">${folder}</a>` }),
      actions: html`<a class="button" href="${BASE}${listOf(visit, { account, name: '' })}">${t.all}</a>`,
    },
    problem ?? toldNote(told),
    html`<div class="columns">
<div class="stack">${preview && html`<section class="card">${preview}</section>`}${snippetCard(file)}</div>
<div class="stack">
<section class="card"><dl class="details">
<dt>${common.kind}</dt><dd>${kindLabel(kind)}</dd>
<dt>${common.size}</dt><dd>${shownSize(sizeBytes)}</dd>
<dt>${common.created}</dt><dd>${shownTime(createdAt)}</dd>
${account !== viewer.email && html`<dt>${common.account}</dt><dd>${account}</dd>`}
<dt>${t.fileId}</dt><dd><code>${fileId}</code></dd>
<dt>SHA-256</dt><dd><code>${sha256}</code></dd>
</dl><div class="actions"><a class="button" href="${contentUrl(file)}" download="${name.slice(folder.length)}">${t.download}</a><a class="button" href="${BASE}/files/${fileId}/remove">${t.remove}</a></div>
<form method="post" action="${BASE}/files/${fileId}/rename" class="fields">${csrfField(csrf)}<label>${common.name} <span class="hint">${t.nameHint}</span><input name="name" value="${name}" required maxlength="512" autocomplete="off" spellcheck="false"></label><button>${t.rename}</button></form></section>
${usedBy(jobs)}
</div></div>`,
  );
}

async function previewOf({ admin }: Visit, file: FileInfo): Promise<Value> {
  const player = playerOf(file);
  if (player) return player;
  const { fileId, kind, sizeBytes } = file;
  if (!FILE_KINDS[kind].isText || sizeBytes === 0) return undefined;
  const end = Math.min(sizeBytes, MOST_TEXT_BYTES) - 1;
  const { stream } = await admin.files.open({ fileId, range: { start: 0, end } });
  // Of a character that is cut, nothing is shown.
  const text = new TextDecoder().decode(await buffer(stream), { stream: true });
  const lines = text.split('\n', MOST_LINES).join('\n');
  const isCut = sizeBytes > MOST_TEXT_BYTES || lines.length < text.length;
  return [
    html`<pre tabindex="0">${longText(lines)}</pre>`,
    isCut && html`<p class="small muted">${texts().common.onlyTheBeginning}</p>`,
  ];
}

function snippetCard(file: FileInfo): Html | false {
  const { files: t, common } = texts();
  const usage = usageOf(file);
  if (usage !== undefined) {
    return html`<section class="card"><header><h2>${t.inScene}</h2><button type="button" data-copy="usage" hidden>${common.copy}</button></header><pre class="wrap" id="usage">${wholeText(usage)}</pre></section>`;
  }
  return html`<section class="card"><h2>${t.inScene}</h2><p class="muted">${t.moduleName}</p></section>`;
}

function usedBy(jobs: JobInfo[]): Html {
  const { files: t } = texts();
  if (jobs.length === 0) {
    return html`<section class="card"><h2>${t.usedBy}</h2><p class="muted">${t.usedByNone}</p></section>`;
  }
  const items = jobs.map(
    (job) =>
      html`<li><span>${jobName(job)} <span class="small muted">${shownTime(job.createdAt)}</span></span>${stateTag(job)}</li>`,
  );
  return html`<section class="card flush"><header><h2>${t.usedBy}</h2>${jobs.length === MOST_JOBS && html`<span class="small muted">${t.newestJobs(MOST_JOBS)}</span>`}</header><ul class="list">${items}</ul></section>`;
}

/** The content of a file, or a part of it, which players of sounds ask for. */
async function content(visit: Visit): Promise<Answer> {
  const { admin, h, request } = visit;
  const { fileId, name, kind, sizeBytes } = await shown(visit);
  const range = byteRangeOf(request.raw.req.headers.range, sizeBytes);
  const base = {
    'Accept-Ranges': 'bytes',
    'Content-Security-Policy': SANDBOX,
    'Cross-Origin-Resource-Policy': 'same-origin',
  };
  if (range === 'unsatisfiable') {
    return {
      response: h.response().code(416),
      headers: { ...base, 'Content-Range': `bytes */${sizeBytes}` },
    };
  }
  const { stream, contentType } = await admin.files.open({ fileId, range });
  const response = h
    .response(stream)
    .code(range ? 206 : 200)
    .bytes(range ? range.end - range.start + 1 : sizeBytes)
    .type(SENT_AS_THEY_ARE.has(kind) ? contentType : 'application/octet-stream');
  const isShown = SHOWN_ALONE.has(kindOfName(name)?.extension ?? '');
  const fileName = encodeURIComponent(name.slice(folderOf(name).length)).replaceAll("'", '%27');
  return {
    response,
    headers: {
      ...base,
      'Content-Disposition': `${isShown ? 'inline' : 'attachment'}; filename*=UTF-8''${fileName}`,
      ...(range && { 'Content-Range': `bytes ${range.start}-${range.end}/${sizeBytes}` }),
    },
  };
}

async function removePage(visit: Visit): Promise<Html> {
  const { viewer, csrf } = visit;
  const { files: t, common } = texts();
  const { fileId, name } = await shown(visit);
  return page(
    { title: t.removeTitle, section: 'files', viewer, csrf },
    html`<section class="card">
<p>${filled(t.removeQuestion, { name: html`<strong>${name}</strong>` })}</p>
<div class="actions">${postButton({ to: `/files/${fileId}/remove`, csrf, label: t.removeTitle, look: 'danger' })}<a class="button" href="${BASE}/files/${fileId}">${common.cancel}</a></div>
</section>`,
  );
}
