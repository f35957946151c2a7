import {
  FILE_EXTENSIONS,
  isScenepressError,
  MOST_BYTES_OF_JOB,
  MOST_FILES_OF_JOB,
} from '../../../lib/internal.ts';
import type { HttpError } from '../../../lib/web/index.ts';
import type { FileInfo, FilePage, FileUse } from '../../admin/administration-views.ts';
import { httpErrorOf } from '../../http/http-errors.ts';
import { bodyOf, discardBody } from '../../http/render-api/request-body.ts';
import { FILES_ASSET } from '../assets/assets.ts';
import { counted, shownNumber, shownSize, shownTime, shownUse } from '../format.ts';
import { type Html, html, type Value } from '../html.ts';
import { csrfField, emptyState, note, page, toldNote } from '../layout.ts';
import { type Answer, BASE, type Route, type Visit } from '../route.ts';
import { MOST_FILES, receiveFiles } from '../uploads.ts';
import { accountOf, accountPicker } from './chosen-account.ts';
import { contentUrl, filesPath, folderOf, KIND_LABELS } from './file-views.ts';

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
  const uploaded = kept > 0 && `${counted(kept, 'file')} ${kept === 1 ? 'was' : 'were'} uploaded.`;
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
  if (problems.length === 0) return note('bad', 'Choose a file to upload.');
  const more = problems.length - MOST_PROBLEMS;
  return html`<div class="note bad" role="alert"><p>${uploaded || 'Nothing was uploaded.'}</p><ul>${problems
    .slice(0, MOST_PROBLEMS)
    .map(({ fileName, message }) => html`<li><strong>${fileName}</strong>: ${message}</li>`)}${
    more > 0 && html`<li>${counted(more, 'more file')}</li>`
  }</ul></div>`;
}

async function listPage(visit: Visit, problem?: Value): Promise<Html> {
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
      title: 'Files',
      section: 'files',
      viewer,
      csrf,
      lead: 'Pictures, sounds, fonts, data and modules. Scenes find them by their names.',
      actions: await accountPicker(visit, '/files'),
      script: FILES_ASSET.path,
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
  const { csrf } = visit;
  const accept = FILE_EXTENSIONS.map((extension) => `.${extension}`).join(',');
  return html`<section class="card" id="upload">
<form method="post" action="${BASE}${filesPath(visit, { folder, csrf })}" enctype="multipart/form-data" class="fields">
${csrfField(csrf)}
<label>Folder <span class="hint">optional, such as voices</span><input name="folder" value="${folder}" maxlength="400" autocomplete="off"></label>
<label>Files <span class="hint">at most ${MOST_FILES} at a time</span><input type="file" name="file" multiple required accept="${accept}"></label>
<button class="primary">Upload</button>
</form>
<p class="small muted"><span id="drop-hint" hidden>Files and folders can also be dropped anywhere on this page. </span>A file replaces one of the same name; jobs that were added before keep theirs.</p>
<ul class="uploads" id="uploads" hidden></ul>
<p class="small" id="upload-state" role="status" hidden></p>
${usage(use)}
</section>`;
}

function searchForm(visit: Visit, folder: string | undefined, search: string | undefined): Html {
  return html`<form method="get" action="${BASE}/files" class="actions search" role="search">${
    visit.query['account'] && html`<input type="hidden" name="account" value="${visit.query['account']}">`
  }${folder !== undefined && html`<input type="hidden" name="folder" value="${folder}">`}<input type="search" name="search" value="${search}" maxlength="${LONGEST_SEARCH}" aria-label="Part of a name" placeholder="Part of a name"><button>Search</button>${
    search !== undefined && html`<a class="button" href="${BASE}${filesPath(visit, { folder })}">Show all</a>`
  }</form>`;
}

/** More files than a job comes with, of which jobs that name none get none. */
function tooMany({ files, bytes }: FileUse, shown: FileInfo[]): Html | false {
  if (shown.length === 0 || (files <= MOST_FILES_OF_JOB && bytes <= MOST_BYTES_OF_JOB)) return false;
  return note(
    'warn',
    `Jobs come with at most ${MOST_FILES_OF_JOB} files of ${MOST_BYTES_OF_JOB / MIB} MiB. If the account has more, a job gets none of them unless its request names those that its scene reads, with “files”.`,
  );
}

function usage({ files, bytes, mostFiles, mostBytes }: FileUse): Html {
  const count =
    mostFiles === null ? counted(files, 'file') : `${shownNumber(files)} of ${counted(mostFiles, 'file')}`;
  return html`<div class="usage" id="use" data-live>${
    mostBytes !== null &&
    html`<meter min="0" max="${mostBytes}" high="${mostBytes * 0.9}" optimum="0" value="${bytes}" aria-label="Space used"></meter>`
  }<span>${count}, ${shownUse({ bytes, mostBytes })}</span></div>`;
}

/** The folder and those that it is in, as links to them. */
function crumbs(visit: Visit, folder: string | undefined): Value {
  if (folder === undefined) return 'All files';
  const parts = folder.split('/');
  const links = parts.slice(0, -1).map((part, index) => {
    const path = filesPath(visit, { folder: parts.slice(0, index + 1).join('/') });
    return html` / <a href="${BASE}${path}">${part}</a>`;
  });
  return html`<a href="${BASE}${filesPath(visit)}">All files</a>${links} / ${parts.at(-1)}`;
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
  return html`<nav class="filters" aria-label="Folders">${folders.map(
    (path) => html`<a href="${BASE}${filesPath(visit, { folder: path })}">${path.slice(from)}/</a>`,
  )}</nav>`;
}

function nothing({ folder, after, search }: Record<'folder' | 'after' | 'search', string | undefined>): Html {
  if (search !== undefined) return emptyState('Nothing found', 'No name contains this text.');
  if (after !== undefined) return emptyState('No more files', 'This is the end of the list.');
  if (folder !== undefined) return emptyState('No files here', 'There is no file in this folder.');
  return emptyState(
    'No files yet',
    'Scenes have no network. Upload the pictures, sounds, fonts and data that they need.',
  );
}

function fileTable(visit: Visit, folder: string | undefined, files: FileInfo[]): Html {
  const from = folder === undefined ? 0 : folder.length + 1;
  return html`<div class="scroll"><table class="cards">
<thead><tr><th>Name</th><th>Kind</th><th class="end">Size</th><th>Created</th></tr></thead>
<tbody>${files.map((file) => fileRow(visit, file, from))}</tbody></table></div>`;
}

/** `from`: where the part of the name begins that is not the folder of the page. */
function fileRow(visit: Visit, file: FileInfo, from: number): Html {
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
<td data-label="Kind">${KIND_LABELS[kind]}</td>
<td data-label="Size" class="end number">${shownSize(sizeBytes)}</td>
<td data-label="Created">${shownTime(createdAt)}</td>
</tr>`;
}

function paging(
  visit: Visit,
  { folder, after, search, next }: Record<'folder' | 'after' | 'search', string | undefined> & FilePage,
): Html {
  return html`<nav class="paging" aria-label="Pages" id="paging" data-live>
<span>${after !== undefined && html`<a href="${BASE}${filesPath(visit, { folder, search })}">First page</a>`}</span>
<span>${next !== null && html`<a href="${BASE}${filesPath(visit, { folder, search, after: next })}" rel="next">Next page</a>`}</span>
</nav>`;
}
