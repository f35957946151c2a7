import { fileNames, isScenepressError, type SceneDraft } from '../../../lib/internal.ts';
import type { SceneDetails, VersionPage } from '../../admin/scene-views.ts';
import { httpErrorOf } from '../../http/http-errors.ts';
import { shownQuality, shownSize, shownTime, utcText } from '../format.ts';
import { type Html, html, type Value } from '../html.ts';
import { texts } from '../language/texts.ts';
import { csrfField, emptyState, note, page, postButton, toldNote } from '../layout.ts';
import { type Answer, BASE, type Route, type Visit } from '../route.ts';
import { codeCard } from './code-view.ts';
import { sceneRemovalRoutes } from './scene-removal.ts';
import { sideOf } from './scene-sides.ts';
import { hasVideo, restoreForm, scenePath, settingsOf, versionItem } from './scene-views.ts';
import { LONGEST_NAME } from './scenes.ts';

const ROWS = 30;

/** The page of each scene. */
export function sceneRoutes(): Route[] {
  const path = '/scenes/{sceneId}';
  return [
    { method: 'GET', path, for: 'members', handler: (visit) => scenePage(visit) },
    { method: 'GET', path: `${path}/code`, for: 'members', handler: download },
    form(`${path}/rename`, async ({ admin, params, form }) => {
      const name = form['name'] ?? '';
      const scene = await admin.scenes.rename({ sceneId: params['sceneId'] ?? '', name });
      return [scene.sceneId, texts().scenes.wasRenamed(scene.name)];
    }),
    form(`${path}/duplicate`, async ({ admin, params }) => {
      const copy = await admin.scenes.duplicate({ sceneId: params['sceneId'] ?? '' });
      return [copy.sceneId, texts().scenes.wasDuplicated];
    }),
    form(`${path}/restore`, async ({ admin, params, form: { revision, version, draft } }) => {
      const from = version ? { version: Number(version) } : { draft: Number(draft) };
      const sceneId = params['sceneId'] ?? '';
      await admin.scenes.restore({ sceneId, revision: Number(revision), ...from });
      return [sceneId, texts().scenes.wasRestored];
    }),
    form(`${path}/render`, async ({ admin, params }) => {
      const { sceneId, version } = await admin.scenes.render({ sceneId: params['sceneId'] ?? '' });
      return [sceneId, texts().scenes.isRendered(version)];
    }),
    form(`${path}/versions/{version}/again`, async ({ admin, params }) => {
      const { sceneId = '', version } = params;
      const { job } = await admin.scenes.version({ sceneId, version: Number(version) });
      const { jobId } = await admin.jobs.renderAgain({ jobId: job.jobId });
      const again = await admin.scenes.ofJob({ jobId });
      return [sceneId, texts().scenes.isRendered(again?.version ?? Number(version))];
    }),
    ...sceneRemovalRoutes(),
  ];
}

/** A form of the page: leads to the page of a scene with a message, or says on its own why it was refused. */
function form(path: string, change: (visit: Visit) => Promise<[sceneId: string, text: string]>): Route {
  return {
    method: 'POST',
    path,
    for: 'members',
    async handler(visit): Promise<Answer> {
      try {
        const [sceneId, text] = await change(visit);
        return { to: scenePath(sceneId), tell: { note: { kind: 'good', text } } };
      } catch (error) {
        // Of a scene that there is not, there is no page.
        if (!isScenepressError(error) || error.code === 'not_found') throw error;
        const { status } = httpErrorOf(error);
        return { page: await scenePage(visit, note('bad', error.message)), status };
      }
    },
  };
}

async function scenePage(visit: Visit, problem?: Html): Promise<Html> {
  const { scenes: t } = texts();
  const { admin, viewer, csrf, params, query, told } = visit;
  const sceneId = params['sceneId'] ?? '';
  const scene = await admin.scenes.show({ sceneId });
  const before = Number(query['before']) || undefined;
  const versions = await admin.scenes.versions({ sceneId, limit: ROWS, before });
  const { drafts } = await admin.scenes.drafts({ sceneId });
  return page(
    {
      title: scene.name,
      section: 'scenes',
      viewer,
      csrf,
      actions: html`<a class="button primary" href="${BASE}/playground?scene=${sceneId}">${t.open}</a>`,
    },
    problem ?? toldNote(told),
    html`<div class="columns">
<div class="stack">${region('history', history(scene, versions, visit))}${region('source', source(scene))}</div>
<div class="stack">
${region('facts', html`<section class="card">${facts(scene, visit)}<div class="actions">${actions(scene, csrf)}</div></section>`)}
<details class="card more"><summary>${t.rename}</summary><form method="post" action="${BASE}${scenePath(sceneId)}/rename" class="fields">${csrfField(csrf)}<label>${texts().common.name}<input name="name" value="${scene.name}" required maxlength="${LONGEST_NAME}" autocomplete="off"></label><div class="actions"><button>${t.rename}</button></div></form></details>
${region('drafts', earlierDrafts(scene, drafts.slice(1), csrf))}
</div></div>`,
  );
}

function region(id: string, content: Value): Html {
  return html`<div id="${id}" data-live class="part">${content}</div>`;
}

function history(scene: SceneDetails, { versions, next }: VersionPage, visit: Visit): Html {
  const { scenes: t, common } = texts();
  const isFirst = visit.query['before'] === undefined;
  const path = `${BASE}${scenePath(scene.sceneId)}`;
  if (versions.length === 0 && isFirst)
    return html`<section class="card"><h2>${t.versions}</h2>${emptyState(t.noVersions, t.noVersionsText)}</section>`;
  const canCompare = versions.filter(hasVideo).length > 1;
  return html`<section class="card flush"><header><h2>${t.versions}</h2>${canCompare && html`<a href="${path}/compare">${t.compare}</a>`}</header>
<ul class="list">${versions.map((version) => versionItem(version, scene, visit))}</ul></section>
<nav class="paging" aria-label="${common.pages}"><span>${!isFirst && html`<a href="${path}">${t.newestVersions}</a>`}</span><span>${next !== null && html`<a href="${path}?before=${next}" rel="next">${t.olderVersions}</a>`}</span></nav>`;
}

function source({ sceneId, code }: SceneDetails): Html {
  const { scenes: t } = texts();
  if (code === '')
    return html`<section class="card"><h2>${t.draft}</h2><p class="muted">${t.noCode}</p></section>`;
  return codeCard(code, { whole: `${scenePath(sceneId)}/code` });
}

function facts(scene: SceneDetails, { viewer }: Visit): Html {
  const { scenes: t, common } = texts();
  const { className, quality, aspectRatio, fps, params } = settingsOf(scene);
  return html`<dl class="details">
<dt>${t.className}</dt><dd>${className === '' ? html`<span class="muted">${t.noClass}</span>` : html`<code>${className}</code>`}</dd>
<dt>${common.quality}</dt><dd>${shownQuality(quality)}</dd>
<dt>${t.format}</dt><dd>${aspectRatio}, ${texts().job.fps(fps)}</dd>
${params !== '' && html`<dt>${common.parameters}</dt><dd><code>${params}</code></dd>`}
<dt>${t.changedAt}</dt><dd>${shownTime(scene.changedAt)}</dd>
<dt>${common.created}</dt><dd>${shownTime(scene.createdAt)}</dd>
${scene.account !== viewer.email && html`<dt>${common.account}</dt><dd>${scene.account}</dd>`}
<dt>${t.sceneId}</dt><dd><code>${scene.sceneId}</code></dd></dl>`;
}

function actions({ sceneId, code, className }: SceneDetails, csrf: string): Value {
  const { scenes: t } = texts();
  const path = scenePath(sceneId);
  return [
    code !== '' && className !== '' && postButton({ to: `${path}/render`, csrf, label: t.render }),
    code !== '' && html`<a class="button" href="${BASE}${path}/code">${t.download}</a>`,
    code !== '' &&
      html`<a class="button" href="${BASE}/assignments/new?scene=${sceneId}">${texts().assignments.assign}</a>`,
    postButton({ to: `${path}/duplicate`, csrf, label: t.duplicate }),
    html`<a class="button" href="${BASE}${path}/remove">${t.remove}</a>`,
  ];
}

function earlierDrafts(scene: SceneDetails, drafts: SceneDraft[], csrf: string): Html | false {
  if (drafts.length === 0) return false;
  const { scenes: t } = texts();
  const path = `${BASE}${scenePath(scene.sceneId)}`;
  return html`<details class="card more flush"><summary>${t.drafts}</summary><ul class="list">${drafts.map(
    ({ revision, savedAt, sizeBytes }) => {
      const what = t.draftOf(utcText(savedAt));
      return html`<li><span>${shownTime(savedAt)} <span class="small muted">${shownSize(sizeBytes)}</span></span><div class="actions"><a class="small" href="${path}/diff?from=d${revision}&amp;to=draft" aria-label="${t.differencesOf(what)}">${t.differences}</a>${restoreForm(scene, { draft: revision }, what, csrf)}</div></li>`;
    },
  )}</ul></details>`;
}

/** The code of the draft as a file; `of`: of another one, or a version. */
async function download(visit: Visit): Promise<Answer> {
  const { admin, params, query, h } = visit;
  const { sceneId, name } = await admin.scenes.show({ sceneId: params['sceneId'] ?? '' });
  const { code } = await sideOf(visit, sceneId, query['of'] ?? 'draft');
  const fileName = encodeURIComponent(fileNames()(name)).replaceAll("'", '%27');
  return {
    response: h.response(code).type('text/x-python'),
    headers: { 'Content-Disposition': `attachment; filename*=UTF-8''${fileName}` },
  };
}
