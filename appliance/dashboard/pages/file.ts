import { buffer } from 'node:stream/consumers';
import { FILE_KINDS, isScenepressError, kindOfName } from '../../../lib/internal.ts';
import { byteRangeOf } from '../../../lib/web/index.ts';
import type { FileInfo, JobInfo } from '../../admin/administration-views.ts';
import { httpErrorOf } from '../../http/http-errors.ts';
import { shownSize, shownTime } from '../format.ts';
import { type Html, html, longText, type Value, wholeText } from '../html.ts';
import { csrfField, note, page, postButton, toldNote } from '../layout.ts';
import { type Answer, BASE, type Route, type Visit } from '../route.ts';
import { contentUrl, filesPath, folderOf, KIND_LABELS, playerOf, usageOf } from './file-views.ts';
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
        const text = `${file.name} was removed.`;
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
    return { to: `/files/${fileId}`, tell: { note: { kind: 'good', text: `It is ${name} now.` } } };
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
      lead: folder !== '' && html`In the folder <a href="${BASE}${listOf(visit, file)}">${folder}</a>`,
      actions: html`<a class="button" href="${BASE}${listOf(visit, { account, name: '' })}">All files</a>`,
    },
    problem ?? toldNote(told),
    html`<div class="columns">
<div class="stack">${preview && html`<section class="card">${preview}</section>`}${snippetCard(file)}</div>
<div class="stack">
<section class="card"><dl class="details">
<dt>Kind</dt><dd>${KIND_LABELS[kind]}</dd>
<dt>Size</dt><dd>${shownSize(sizeBytes)}</dd>
<dt>Created</dt><dd>${shownTime(createdAt)}</dd>
${account !== viewer.email && html`<dt>Account</dt><dd>${account}</dd>`}
<dt>File id</dt><dd><code>${fileId}</code></dd>
<dt>SHA-256</dt><dd><code>${sha256}</code></dd>
</dl><div class="actions"><a class="button" href="${contentUrl(file)}" download="${name.slice(folder.length)}">Download</a><a class="button" href="${BASE}/files/${fileId}/remove">Remove …</a></div>
<form method="post" action="${BASE}/files/${fileId}/rename" class="fields">${csrfField(csrf)}<label>Name <span class="hint">jobs that were added before keep the earlier one</span><input name="name" value="${name}" required maxlength="512" autocomplete="off" spellcheck="false"></label><button>Rename</button></form></section>
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
    isCut && html`<p class="small muted">Only the beginning is shown.</p>`,
  ];
}

function snippetCard(file: FileInfo): Html | false {
  const usage = usageOf(file);
  if (usage !== undefined) {
    return html`<section class="card"><header><h2>In a scene</h2><button type="button" data-copy="usage" hidden>Copy</button></header><pre class="wrap" id="usage">${wholeText(usage)}</pre></section>`;
  }
  return html`<section class="card"><h2>In a scene</h2><p class="muted">Modules are imported by their names: one of letters, digits and underscores, with the end .py, is needed for that.</p></section>`;
}

function usedBy(jobs: JobInfo[]): Html {
  if (jobs.length === 0) {
    return html`<section class="card"><h2>Used by</h2><p class="muted">No job uses this file.</p></section>`;
  }
  const items = jobs.map(
    (job) =>
      html`<li><span>${jobName(job)} <span class="small muted">${shownTime(job.createdAt)}</span></span>${stateTag(job)}</li>`,
  );
  return html`<section class="card flush"><header><h2>Used by</h2>${jobs.length === MOST_JOBS && html`<span class="small muted">the newest ${MOST_JOBS} jobs</span>`}</header><ul class="list">${items}</ul></section>`;
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
  const { fileId, name } = await shown(visit);
  return page(
    { title: 'Remove file', section: 'files', viewer, csrf },
    html`<section class="card">
<p>Remove <strong>${name}</strong>? Scenes no longer find it. Jobs that were added before can still be rendered with it.</p>
<div class="actions">${postButton({ to: `/files/${fileId}/remove`, csrf, label: 'Remove file', look: 'danger' })}<a class="button" href="${BASE}/files/${fileId}">Cancel</a></div>
</section>`,
  );
}
