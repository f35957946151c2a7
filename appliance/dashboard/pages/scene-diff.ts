import { type Html, html } from '../html.ts';
import { texts } from '../language/texts.ts';
import { page } from '../layout.ts';
import { BASE, type Route, type Visit } from '../route.ts';
import { differences } from './diff-view.ts';
import { sideOf, sidesOf } from './scene-sides.ts';
import { restoreForm, scenePath } from './scene-views.ts';

/** What was changed in a scene, between two of its versions and drafts. */
export function sceneDiffRoutes(): Route[] {
  return [{ method: 'GET', path: '/scenes/{sceneId}/diff', for: 'members', handler: diffPage }];
}

async function diffPage(visit: Visit): Promise<Html> {
  const { scenes: t, common } = texts();
  const { admin, viewer, csrf, params, query } = visit;
  const scene = await admin.scenes.show({ sceneId: params['sceneId'] ?? '' });
  const { sceneId, lastVersion } = scene;
  const path = `${BASE}${scenePath(sceneId)}`;
  const first = lastVersion ? `v${lastVersion.version}` : 'draft';
  const { from = first, to = 'draft' } = query;
  const [before, after, sides] = await Promise.all([
    sideOf(visit, sceneId, from),
    sideOf(visit, sceneId, to),
    sidesOf(visit, scene),
  ]);
  // A version that is too old to be listed is offered all the same.
  const offered = (name: string, label: string): [string, string][] =>
    sides.some(([side]) => side === name) ? sides : [...sides, [name, label]];
  const choice = (label: string, name: string, chosen: string, ofChosen: string) =>
    html`<label>${label}<select name="${name}">${offered(chosen, ofChosen).map(
      ([value, text]) => html`<option value="${value}" ${value === chosen && 'selected'}>${text}</option>`,
    )}</select></label>`;
  return page(
    {
      title: t.diffTitle(scene.name),
      section: 'scenes',
      viewer,
      csrf,
      actions: [
        before.from && restoreForm(scene, before.from, before.label, csrf, t.restoreWhat(before.label)),
        html`<a class="button" href="${path}">${t.backToScene}</a>`,
      ],
    },
    html`<form method="get" action="${path}/diff" class="card fields">${choice(t.diffFrom, 'from', from, before.label)}${choice(t.diffTo, 'to', to, after.label)}<button>${common.show}</button></form>
${differences(before, after)}`,
  );
}
