import { isScenepressError } from '../../../lib/internal.ts';
import type { SceneUse } from '../../admin/scene-views.ts';
import { httpErrorOf } from '../../http/http-errors.ts';
import { LIBRARY_ASSET } from '../assets/assets.ts';
import { EXAMPLES } from '../assets/examples.ts';
import { shownNumber, shownUse } from '../format.ts';
import { type Html, html, type Value } from '../html.ts';
import { texts } from '../language/texts.ts';
import { csrfField, emptyState, note, page, toldNote } from '../layout.ts';
import { type Answer, BASE, type Route, type Visit } from '../route.ts';
import { accountOf, accountPicker, accountQuery } from './chosen-account.ts';
import { sceneGrid } from './scene-views.ts';

const CARDS = 24;
export const LONGEST_NAME = 200;

/** The scenes of an account. */
export function sceneListRoutes(): Route[] {
  return [
    { method: 'GET', path: '/scenes', for: 'members', handler: (visit) => listPage(visit) },
    { method: 'POST', path: '/scenes', for: 'members', handler: create },
    {
      method: 'GET',
      path: '/scenes.zip',
      for: 'members',
      async handler(visit) {
        const { stream } = await visit.admin.scenes.archive({ account: accountOf(visit) });
        return {
          response: visit.h.response(stream).type('application/zip'),
          headers: { 'Content-Disposition': 'attachment; filename="scenes.zip"' },
        };
      },
    },
  ];
}

async function listPage(visit: Visit, problem?: Html): Promise<Html> {
  const { scenes: t, common } = texts();
  const { admin, viewer, csrf, query, told } = visit;
  const account = accountOf(visit);
  const after = query['after'] || undefined;
  const text = query['text']?.trim().slice(0, LONGEST_NAME) || undefined;
  const [{ scenes, next }, use] = await Promise.all([
    admin.scenes.list({ account, text, after, limit: CARDS }),
    admin.scenes.usage({ account }),
  ]);
  const ofAccount = accountQuery(visit);
  const { after: _, ...others } = query;
  const first = `?${new URLSearchParams(others)}`;
  const more = (next: string) => `?${new URLSearchParams({ ...query, after: next })}`;
  return page(
    {
      title: t.title,
      section: 'scenes',
      viewer,
      csrf,
      lead: t.lead,
      script: LIBRARY_ASSET.path,
      actions: [
        await accountPicker(visit, '/scenes'),
        use.scenes > 0 && html`<a class="button" href="${BASE}/scenes.zip${ofAccount}">${t.downloadAll}</a>`,
      ],
    },
    problem ?? toldNote(told),
    html`<form method="post" action="${BASE}/scenes${ofAccount}" class="naming">${csrfField(csrf)}<input name="name" value="${visit.form['name']}" required maxlength="${LONGEST_NAME}" autocomplete="off" placeholder="${t.newName}" aria-label="${t.newName}"><button class="primary">${t.create}</button></form>
${use.scenes > 0 && searchBar(visit, text)}
<div id="scenes" data-live class="stack">${scenes.length > 0 ? sceneGrid(scenes, visit) : nothing(after, text)}</div>
<nav class="paging" aria-label="${common.pages}" id="paging" data-live>
<span>${after !== undefined && html`<a href="${first}">${common.firstPage}</a>`}</span>
<span>${next !== null && html`<a href="${more(next)}" rel="next">${common.nextPage}</a>`}</span></nav>
${use.scenes > 0 && usage(use)}`,
  );
}

function searchBar(visit: Visit, text: string | undefined): Html {
  const { scenes: t, library } = texts();
  const { account } = visit.query;
  return html`<form method="get" action="${BASE}/scenes" class="finder" role="search">${account && html`<input type="hidden" name="account" value="${account}">`}
<input type="search" name="text" value="${text}" placeholder="${t.search}" aria-label="${t.search}" maxlength="${LONGEST_NAME}" autocomplete="off"><button>${library.find}</button>${text !== undefined && html`<a class="small" href="${BASE}/scenes${accountQuery(visit)}">${t.clear}</a>`}</form>`;
}

function nothing(after: string | undefined, search: string | undefined): Html {
  const { scenes: t, common } = texts();
  if (search !== undefined && after === undefined)
    return html`<section class="card">${emptyState(t.noneFound, t.noneFoundText)}</section>`;
  const [title, text] = after === undefined ? [t.noneYet, t.noneYetText] : [t.noMore, common.endOfList];
  return html`<section class="card">${emptyState(title, text)}</section>`;
}

function usage({ scenes, bytes, mostScenes, mostBytes }: SceneUse): Value {
  const { scenes: t, counts } = texts();
  const count =
    mostScenes === null ? counts.scenes(scenes) : t.use(shownNumber(scenes), counts.scenes(mostScenes));
  return html`<div class="usage narrow">${
    mostBytes !== null &&
    html`<meter min="0" max="${mostBytes}" high="${mostBytes * 0.9}" optimum="0" value="${bytes}" aria-label="${t.spaceUsed}"></meter>`
  }<span>${count}, ${shownUse({ bytes, mostBytes })}</span></div>`;
}

/** A new scene begins with the first example. */
async function create(visit: Visit): Promise<Answer> {
  const { admin, form } = visit;
  const [{ code, className, aspectRatio }] = EXAMPLES;
  const settings = { quality: 'low' as const, aspectRatio };
  try {
    const { sceneId } = await admin.scenes.create({
      ...{ account: accountOf(visit), name: form['name'] ?? '' },
      ...{ code, className, settings },
    });
    return { to: `/playground?scene=${sceneId}` };
  } catch (error) {
    if (!isScenepressError(error, 'invalid_request', 'too_much_stored')) throw error;
    return { page: await listPage(visit, note('bad', error.message)), status: httpErrorOf(error).status };
  }
}
