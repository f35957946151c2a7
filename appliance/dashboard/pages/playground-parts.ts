import { frameSizeOf, QUALITY_NAMES, ScenepressError } from '../../../lib/internal.ts';
import type { JobDetails } from '../../admin/administration-views.ts';
import type { SceneDetails } from '../../admin/scene-views.ts';
import { EXAMPLES } from '../assets/examples.ts';
import { shownQuality } from '../format.ts';
import { type Html, html } from '../html.ts';
import { filled } from '../language/filled.ts';
import { texts } from '../language/texts.ts';
import { emptyState } from '../layout.ts';
import { BASE, type Route } from '../route.ts';

/** Files that are offered at a time. */
const MOST_FILES = 50;

/** For the script: files of the account by a part of their names. */
export const FILES_ROUTE: Route = {
  method: 'GET',
  path: '/playground/files',
  for: 'members',
  async handler({ admin, viewer, query, h }) {
    const { search = '' } = query;
    const found = await admin.files.list({
      account: viewer.accountId,
      limit: MOST_FILES,
      ...(search !== '' && { search }),
    });
    const { fileKinds } = texts().playground;
    const files = found.files.map(({ name, kind, fileId }) => ({ name, kind: fileKinds[kind], fileId }));
    return { response: h.response({ files, isAll: found.next === null }) };
  },
};

/** The parameters of a form, where the script keeps them. Error: `invalid_request`. */
export function paramsIn(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text === '' || text === '{}') return undefined;
  let params: unknown;
  try {
    params = JSON.parse(text);
  } catch (cause) {
    throw notAnObject(cause);
  }
  if (typeof params !== 'object' || params === null || Array.isArray(params)) throw notAnObject();
  return params as Readonly<Record<string, unknown>>;
}

/** The parameters of a form that may be wrong, for what is only shown. */
export function shownParams(text: string): { params?: Readonly<Record<string, unknown>> } {
  try {
    const params = paramsIn(text);
    return params ? { params } : {};
  } catch {
    return {};
  }
}

function notAnObject(cause?: unknown): ScenepressError {
  return new ScenepressError('invalid_request', texts().playground.paramsAreNoObject, { cause });
}

/** The places that the script fills: a form of parameters, and a list of files. */
export function tools(params: string): Html {
  return html`<input type="hidden" name="params" value="${params}"><fieldset id="params" class="params" hidden><legend>${texts().common.parameters}</legend><div class="fields"></div></fieldset>`;
}

/** A list of files, one of which is written at the cursor. */
export function filePicker(): Html {
  const { playground: t, common } = texts();
  return html`<dialog id="file-picker" class="picker" aria-labelledby="file-picker-title"><header><h2 id="file-picker-title">${t.insertTitle}</h2><button type="button" class="link" value="close">${t.close}</button></header>
<label>${common.search}<input type="search" autocomplete="off" spellcheck="false"></label>
<ul class="list"></ul><p class="small muted" role="status"></p></dialog>`;
}

export function choice(
  label: string,
  name: string,
  chosen: string,
  options: [value: string, label: string][],
): Html {
  return html`<label>${label}<select name="${name}">${options.map(
    ([value, text]) => html`<option value="${value}" ${value === chosen && 'selected'}>${text}</option>`,
  )}</select></label>`;
}

export function nothingYet(): Html {
  const { playground: t } = texts();
  const keys = html`<span class="tight"><kbd>${t.ctrl}</kbd> <kbd>${t.enter}</kbd></span>`;
  return html`<section class="card">${emptyState(t.nothingYet, filled(t.nothingYetText, { keys }))}</section>`;
}

export function gallery(): Html {
  const { playground: t } = texts();
  return html`<section class="stack" aria-labelledby="examples-title"><h2 id="examples-title">${t.examples}</h2>
<ul class="gallery" id="examples">${EXAMPLES.map(
    ({ name, title, picture }) =>
      html`<li><a href="${BASE}/playground?example=${name}" data-example="${name}"><img src="${picture}" alt="" width="320" height="180" loading="lazy"><span>${t.example(name, title)}</span></a></li>`,
  )}</ul></section>`;
}

/** `High, 1080p`. */
export function qualityLabels(): [string, string][] {
  return QUALITY_NAMES.map((quality) => [
    quality,
    `${shownQuality(quality)}, ${frameSizeOf(quality, '16:9').heightPx}p`,
  ]);
}

/** Instead of the code, which the browser may have. */
export function tooLong(job: JobDetails | undefined, scene: Pick<SceneDetails, 'sceneId'> | undefined): Html {
  const { playground: t } = texts();
  const path = scene ? `/scenes/${scene.sceneId}` : job && `/jobs/${job.jobId}`;
  if (path === undefined) return html`${t.tooLong} ${t.goBack}`;
  const link = html`<a href="${BASE}${path}/code">${t.downloadItLink}</a>`;
  return html`${t.tooLong} ${filled(t.downloadIt, { link })}`;
}
