import {
  FILE_EXTENSIONS,
  isScenepressError,
  MOST_BYTES_OF_JOB,
  MOST_FILES_OF_JOB,
} from '../../../lib/internal.ts';
import type { HttpError } from '../../../lib/web/index.ts';
import type { FileInfo, FilePage, FileUse } from '../../admin/file-views.ts';
import { httpErrorOf } from '../../http/http-errors.ts';
import { bodyOf, discardBody } from '../../http/render-api/request-body.ts';
import { FILES_ASSET } from '../assets/assets.ts';
import { shownNumber, shownSize, shownTime, shownUse } from '../format.ts';
import { type Html, html, type Value } from '../html.ts';
import { texts } from '../language/texts.ts';
import { csrfField, emptyState, note, page, toldNote } from '../layout.ts';
import { type Answer, BASE, type Route, type Visit } from '../route.ts';
import { MOST_FILES, receiveFiles } from '../uploads.ts';
import { accountOf, accountPicker } from './chosen-account.ts';
import { contentUrl, filesPath, folderOf, kindLabel } from './file-views.ts';

/** Files per page. */
const ROWS = 100;
/** Larger pictures are not shown in a list. */
const LARGEST_SHOWN_BYTES = 300_000;
/** Why files of a form were refused. */
const MOST_PROBLEMS = 20;
const LONGEST_SEARCH = 200;
const MIB = 1024 ** 2;

interface Problem {
  fileName: string;
  message: string;
}

/** The files of an account, and their upload. */
export function fileListRoutes(): Route[] {
  return [
    { method: 'GET', path: '/files', for: 'members', handler: listPage },
    { method: 'POST', path: '/files', for: 'members', isUpload: true, handler: keepForm },
    { method: 'POST', path: '/files/upload', for: 'members', isUpload: true, handler: keepOne },
  ];
}

/** Keeps the files of a form. */
async function keepForm(visit: Visit): Promise<Answer> {
  const { admin, request, query } = visit;
  const { req } = request.raw;
  const problems: Problem[] = [];
  let { folder = '' } = query;
  let kept = 0;
  try {
    await receiveFiles(req, async ({ fileName, fields, content }) => {
      // A field without a file.
      if (fileName === '') return;
      folder = folderIn(fields['folder'] ?? '');
      try {
        await admin.files.put({ account: accountOf(visit), name: nameIn(folder, fileName), content });
        kept += 1;
      } catch (error) {
        if (!isScenepressError(error)) throw error;
        problems.push({ fileName, message: messageOf(httpErrorOf(error)) });
      }
    });
  } finally {
    await discardBody(req);
  }
  const { files: t, counts } = texts();
  const uploaded = kept > 0 && t.uploaded(kept, counts.files(kept));
  if (uploaded && problems.length === 0) {
    return { to: filesPath(visit, { folder }), tell: { note: { kind: 'good', text: uploaded } } };
  }
  return { page: await listPage(visit, problemNote(uploaded, problems)), status: 400 };
}

/** Keeps the body as a file; for the script of the page, which sends one after the other. */
async function keepOne(visit: Visit): Promise<Answer> {
  const { admin, request, query, h } = visit;
  const { req } = request.raw;
  try {
    const name = nameIn(folderIn(query['folder'] ?? ''), query['name'] ?? '');
    const { fileId } = await admin.files.put({ account: accountOf(visit), name, content: bodyOf(req) });
    return { response: h.response({ fileId, name }).code(201) };
  } catch (error) {
    if (!isScenepressError(error)) throw error;
    const answer = httpErrorOf(error);
    const response = h.response({ message: messageOf(answer) }).code(answer.status);
    return { response, headers: answer.headers };
  } finally {
    await discardBody(req);
  }
}

function folderIn(text: string): string {
  return text.trim().replace(/^\/+|\/+$/g, '');
}

/** Composed, as people type it in code: some systems name files with letters and accents apart. */
function nameIn(folder: string, fileName: string): string {
  return (folder === '' ? fileName : `${folder}/${fileName}`).normalize();
}

function messageOf({ body }: HttpError): string {
  return body.message ?? body.error;
}

function problemNote(uploaded: string | false, problems: Problem[]): Html {
  const { files: t } = texts();
  if (problems.length === 0) return note('bad', t.chooseOne);
  const more = problems.length - MOST_PROBLEMS;
  return html`<div class="note bad" role="alert"><p>${uploaded || t.nothingUploaded}</p><ul>${problems
    .slice(0, MOST_PROBLEMS)
    .map(({ fileName, message }) => html`<li><strong>${fileName}</strong>: ${message}</li>`)}${
    more > 0 && html`<li>${t.more(more, shownNumber(more))}</li>`
  }</ul></div>`;
}

async function listPage(visit: Visit, problem?: Value): Promise<Html> {
  const { files: t } = texts();
  const { admin, viewer, csrf, query, told } = visit;
  const account = accountOf(visit);
  const folder = folderIn(query['folder'] ?? '') || undefined;
  const after = query['after'] || undefined;
  const search = query['search']?.trim().slice(0, LONGEST_SEARCH) || undefined;
  const [found, use] = await Promise.all([
    admin.files.list({ account, folder, search, after, limit: ROWS }),
    admin.files.usage({ account }),
  ]);
  return page(
    {
      title: t.title,
      section: 'files',
      viewer,
      csrf,
      lead: t.lead,
      actions: await accountPicker(visit, '/files'),
      script: FILES_ASSET.path,
      scriptTexts: t.script,
    },
    problem ?? toldNote(told),
    uploadCard(visit, folder, use),
    tooMany(use, found.files),
    html`${searchForm(visit, folder, search)}<section class="card flush" id="files" data-live><header><h2>${crumbs(visit, folder)}</h2>${folderLinks(visit, folder, found.files)}</header>${
      found.files.length === 0 ? nothing({ folder, after, search }) : fileTable(visit, folder, found.files)
    }</section>
${paging(visit, { folder, after, search, ...found })}`,
  );
}

/** The fields stand before the files, so that they have arrived when the files do. */
function uploadCard(visit: Visit, folder: string | undefined, use: FileUse): Html {
  const { files: t } = texts();
  const { csrf } = visit;
  const accept = FILE_EXTENSIONS.map((extension) => `.${extension}`).join(',');
  return html`<section class="card" id="upload">
<form method="post" action="${BASE}${filesPath(visit, { folder, csrf })}" enctype="multipart/form-data" class="fields">
${csrfField(csrf)}
<label>${t.folder} <span class="hint">${t.folderHint}</span><input name="folder" value="${folder}" maxlength="400" autocomplete="off"></label>
<label>${t.title} <span class="hint">${t.atMost(MOST_FILES)}</span><input type="file" name="file" multiple required accept="${accept}"></label>
<button class="primary">${t.upload}</button>
</form>
<p class="small muted"><span id="drop-hint" hidden>${t.dropHint}</span>${t.replaces}</p>
<ul class="uploads" id="uploads" hidden></ul>
<p class="small" id="upload-state" role="status" hidden></p>
${usage(use)}
</section>`;
}

function searchForm(visit: Visit, folder: string | undefined, search: string | undefined): Html {
  const { files: t, common } = texts();
  return html`<form method="get" action="${BASE}/files" class="actions search" role="search">${
    visit.query['account'] && html`<input type="hidden" name="account" value="${visit.query['account']}">`
  }${folder !== undefined && html`<input type="hidden" name="folder" value="${folder}">`}<input type="search" name="search" value="${search}" maxlength="${LONGEST_SEARCH}" aria-label="${t.partOfName}" placeholder="${t.partOfName}"><button>${common.search}</button>${
    search !== undefined &&
    html`<a class="button" href="${BASE}${filesPath(visit, { folder })}">${t.showAll}</a>`
  }</form>`;
}

/** More files than a job comes with, of which jobs that name none get none. */
function tooMany({ files, bytes }: FileUse, shown: FileInfo[]): Html | false {
  if (shown.length === 0 || (files <= MOST_FILES_OF_JOB && bytes <= MOST_BYTES_OF_JOB)) return false;
  return note('warn', texts().files.tooMany(MOST_FILES_OF_JOB, MOST_BYTES_OF_JOB / MIB));
}

function usage({ files, bytes, mostFiles, mostBytes }: FileUse): Html {
  const { files: t, counts } = texts();
  const count =
    mostFiles === null ? counts.files(files) : t.some(shownNumber(files), counts.files(mostFiles));
  return html`<div class="usage" id="use" data-live>${
    mostBytes !== null &&
    html`<meter min="0" max="${mostBytes}" high="${mostBytes * 0.9}" optimum="0" value="${bytes}" aria-label="${t.spaceUsed}"></meter>`
  }<span>${count}, ${shownUse({ bytes, mostBytes })}</span></div>`;
}

/** The folder and those that it is in, as links to them. */
function crumbs(visit: Visit, folder: string | undefined): Value {
  if (folder === undefined) return texts().files.all;
  const parts = folder.split('/');
  const links = parts.slice(0, -1).map((part, index) => {
    const path = filesPath(visit, { folder: parts.slice(0, index + 1).join('/') });
    return html` / <a href="${BASE}${path}">${part}</a>`;
  });
  return html`<a href="${BASE}${filesPath(visit)}">${texts().files.all}</a>${links} / ${parts.at(-1)}`;
}

/** The folders in this one that the page has files of. */
function folderLinks(visit: Visit, folder: string | undefined, files: FileInfo[]): Html | false {
  const from = folder === undefined ? 0 : folder.length + 1;
  const inner = files.flatMap(({ name }) => {
    const end = name.indexOf('/', from);
    return end === -1 ? [] : [name.slice(0, end)];
  });
  const folders = [...new Set(inner)];
  if (folders.length === 0) return false;
  return html`<nav class="filters" aria-label="${texts().files.folders}">${folders.map(
    (path) => html`<a href="${BASE}${filesPath(visit, { folder: path })}">${path.slice(from)}/</a>`,
  )}</nav>`;
}

function nothing({ folder, after, search }: Record<'folder' | 'after' | 'search', string | undefined>): Html {
  const { files: t, common } = texts();
  if (search !== undefined) return emptyState(t.nothingFound, t.nothingFoundText);
  if (after !== undefined) return emptyState(t.noMore, common.endOfList);
  if (folder !== undefined) return emptyState(t.noneHere, t.noneHereText);
  return emptyState(t.noneYet, t.noneYetText);
}

function fileTable(visit: Visit, folder: string | undefined, files: FileInfo[]): Html {
  const { common } = texts();
  const from = folder === undefined ? 0 : folder.length + 1;
  return html`<div class="scroll"><table class="cards">
<thead><tr><th>${common.name}</th><th>${common.kind}</th><th class="end">${common.size}</th><th>${common.created}</th></tr></thead>
<tbody>${files.map((file) => fileRow(visit, file, from))}</tbody></table></div>`;
}

/** `from`: where the part of the name begins that is not the folder of the page. */
function fileRow(visit: Visit, file: FileInfo, from: number): Html {
  const { common } = texts();
  const { fileId, name, kind, sizeBytes, createdAt } = file;
  const within = folderOf(name);
  const isShown = (kind === 'picture' || kind === 'drawing') && sizeBytes <= LARGEST_SHOWN_BYTES;
  return html`<tr>
<th scope="row" class="rowhead fill"><span class="file"><span class="icon" aria-hidden="true">${
    isShown
      ? html`<img src="${contentUrl(file)}" alt="" loading="lazy" width="36" height="36">`
      : name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  }</span><span>${
    within.length > from &&
    html`<a class="muted" href="${BASE}${filesPath(visit, { folder: within.slice(0, -1) })}">${within.slice(from)}</a>`
  }<a href="${BASE}/files/${fileId}">${name.slice(within.length)}</a></span></span></th>
<td data-label="${common.kind}">${kindLabel(kind)}</td>
<td data-label="${common.size}" class="end number">${shownSize(sizeBytes)}</td>
<td data-label="${common.created}">${shownTime(createdAt)}</td>
</tr>`;
}

function paging(
  visit: Visit,
  { folder, after, search, next }: Record<'folder' | 'after' | 'search', string | undefined> & FilePage,
): Html {
  const { common } = texts();
  return html`<nav class="paging" aria-label="${common.pages}" id="paging" data-live>
<span>${after !== undefined && html`<a href="${BASE}${filesPath(visit, { folder, search })}">${common.firstPage}</a>`}</span>
<span>${next !== null && html`<a href="${BASE}${filesPath(visit, { folder, search, after: next })}" rel="next">${common.nextPage}</a>`}</span>
</nav>`;
}
