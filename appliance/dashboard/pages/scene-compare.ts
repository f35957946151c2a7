import { notFound } from '@hapi/boom';
import type { SceneDetails, VersionInfo } from '../../admin/scene-views.ts';
import { COMPARE_ASSET } from '../assets/assets.ts';
import { utcText } from '../format.ts';
import { type Html, html } from '../html.ts';
import { filled } from '../language/filled.ts';
import { texts } from '../language/texts.ts';
import { emptyState, page } from '../layout.ts';
import { BASE, type Route, type Visit } from '../route.ts';
import { hasVideo, scenePath, settingsText } from './scene-views.ts';

/** Versions that are offered: the newest. */
const OFFERED = 100;

/** Two videos of a scene side by side. */
export function sceneCompareRoutes(): Route[] {
  return [{ method: 'GET', path: '/scenes/{sceneId}/compare', for: 'members', handler: comparePage }];
}

async function comparePage(visit: Visit): Promise<Html> {
  const { scenes: t } = texts();
  const { admin, viewer, csrf, params, query } = visit;
  const scene = await admin.scenes.show({ sceneId: params['sceneId'] ?? '' });
  const { versions } = await admin.scenes.versions({ sceneId: scene.sceneId, limit: OFFERED });
  const [newest, ...earlier] = versions.filter(hasVideo);
  const path = `${BASE}${scenePath(scene.sceneId)}`;
  const left = chosen(versions, query['left'], earlier[0]);
  const right = chosen(versions, query['right'], newest);
  return page(
    {
      title: t.compareTitle(scene.name),
      section: 'scenes',
      viewer,
      csrf,
      ...(left && right && { script: COMPARE_ASSET.path, scriptTexts: t.script }),
      actions: html`<a class="button" href="${path}">${t.backToScene}</a>`,
    },
    left && right
      ? [choice(scene, versions.filter(hasVideo), left, right), pair(left, right, visit)]
      : html`<section class="card">${emptyState(t.tooFew, t.tooFewText)}</section>`,
  );
}

/** The version that the address names. Error: `not_found` if it has no video. */
function chosen(
  versions: VersionInfo[],
  number: string | undefined,
  otherwise: VersionInfo | undefined,
): VersionInfo | undefined {
  if (number === undefined) return otherwise;
  const found = versions.find(({ version }) => String(version) === number);
  if (found && hasVideo(found)) return found;
  throw notFound(texts().scenes.noVideo);
}

function choice(
  { sceneId }: SceneDetails,
  versions: VersionInfo[],
  left: VersionInfo,
  right: VersionInfo,
): Html {
  const { scenes: t, common } = texts();
  const path = `${BASE}${scenePath(sceneId)}`;
  const select = (label: string, name: string, { version: number }: VersionInfo) =>
    html`<label>${label}<select name="${name}">${versions.map(
      ({ version, job }) =>
        html`<option value="${version}" ${version === number && 'selected'}>${t.versionOf(version, utcText(job.createdAt))}</option>`,
    )}</select></label>`;
  return html`<form method="get" action="${path}/compare" class="card fields">${select(t.left, 'left', left)}${select(t.right, 'right', right)}<button>${common.show}</button><a href="${path}/diff?from=v${left.version}&amp;to=v${right.version}">${t.differences}</a></form>`;
}

function pair(left: VersionInfo, right: VersionInfo, visit: Visit): Html {
  const { scenes: t } = texts();
  const keys = {
    space: html`<kbd>${t.space}</kbd>`,
    comma: html`<kbd>,</kbd>`,
    dot: html`<kbd>.</kbd>`,
  };
  return html`<div class="stack" id="compare" data-fps="${Math.max(left.job.fps, right.job.fps)}">
<div class="pair">${figure(left, visit, '')}${figure(right, visit, 'muted')}</div>
<div class="card" id="controls" role="group" aria-label="${t.controls}" hidden><div class="actions"><button type="button" class="primary" data-do="play">${t.play}</button><button type="button" data-do="back">${t.back}</button><button type="button" data-do="forward">${t.forward}</button><input type="range" min="0" max="1" step="any" value="0" aria-label="${t.place}"><output class="number small" aria-live="off"></output></div>
<p class="small muted">${filled(t.keys, keys)}</p></div></div>`;
}

/** Only one of two videos is heard. */
function figure({ version, job }: VersionInfo, { assetUrl }: Visit, sound: '' | 'muted'): Html {
  const { scenes: t } = texts();
  const urlOf = (name: string) => `${assetUrl}/artifacts/${job.jobId}/${name}`;
  return html`<figure><video controls playsinline preload="auto" ${sound} src="${urlOf('video.mp4')}" poster="${urlOf('thumbnail.jpg')}" aria-label="${t.version(version)}"></video>
<figcaption class="small"><a href="${BASE}/jobs/${job.jobId}">${t.version(version)}</a> <span class="muted">${settingsText(job)}</span></figcaption></figure>`;
}
