import { isScenepressError } from '../../../lib/internal.ts';
import { httpErrorOf } from '../../http/http-errors.ts';
import { type Html, html } from '../html.ts';
import { filled } from '../language/filled.ts';
import { texts } from '../language/texts.ts';
import { csrfField, note, page } from '../layout.ts';
import { type Answer, BASE, type Route, type Visit } from '../route.ts';
import { scenePath } from './scene-views.ts';

/** The removal of a scene, after a question. */
export function sceneRemovalRoutes(): Route[] {
  const path = '/scenes/{sceneId}/remove';
  return [
    { method: 'GET', path, for: 'members', handler: (visit) => removePage(visit) },
    { method: 'POST', path, for: 'members', handler: remove },
  ];
}

async function remove(visit: Visit): Promise<Answer> {
  const { admin, params, form, viewer } = visit;
  const forgetJobs = form['forgetJobs'] === 'yes';
  try {
    const { name, account } = await admin.scenes.remove({ sceneId: params['sceneId'] ?? '', forgetJobs });
    const to = account === viewer.email ? '/scenes' : `/scenes?account=${encodeURIComponent(account)}`;
    return { to, tell: { note: { kind: 'good', text: texts().scenes.wasRemoved(name) } } };
  } catch (error) {
    if (!isScenepressError(error, 'conflict')) throw error;
    return { page: await removePage(visit, note('bad', error.message)), status: httpErrorOf(error).status };
  }
}

async function removePage(visit: Visit, problem?: Html): Promise<Html> {
  const { viewer, csrf, admin, params } = visit;
  const { scenes: t, common, counts } = texts();
  const { sceneId, name, lastVersion } = await admin.scenes.show({ sceneId: params['sceneId'] ?? '' });
  const { drafts } = await admin.scenes.drafts({ sceneId });
  const path = `${BASE}${scenePath(sceneId)}`;
  return page(
    { title: t.removeTitle, section: 'scenes', viewer, csrf },
    problem,
    html`<section class="card"><p>${filled(t.removeQuestion, {
      name: html`<strong>${name}</strong>`,
      drafts: counts.drafts(drafts.length),
      versions: counts.versions(lastVersion?.version ?? 0),
    })}</p>
<form method="post" action="${path}/remove" class="stack">${csrfField(csrf)}${
      lastVersion &&
      html`<p>${t.jobsStay}</p><label class="check"><input type="checkbox" name="forgetJobs" value="yes">${t.forgetJobs}</label>`
    }<div class="actions"><button class="danger">${t.removeTitle}</button><a class="button" href="${path}">${common.cancel}</a></div></form></section>`,
  );
}
