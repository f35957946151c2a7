import { QUALITIES } from '../../../lib/internal.ts';
import type { SceneDetails, SceneInfo, VersionInfo } from '../../admin/scene-views.ts';
import { shownQuality, shownTime } from '../format.ts';
import { type Html, html, type Value } from '../html.ts';
import { filled } from '../language/filled.ts';
import { texts } from '../language/texts.ts';
import { csrfField } from '../layout.ts';
import { BASE, type Visit } from '../route.ts';
import { firstLine, progressText } from './job-views.ts';
import { picture } from './library-views.ts';

const LOOKS = { queued: '', running: 'busy', completed: 'good', failed: 'bad', expired: '', forgotten: '' };

/** The path of the page of a scene, below {@link BASE}. */
export function scenePath(sceneId: string): string {
  return `/scenes/${sceneId}`;
}

/** Whether the video of a version can be watched. */
export function hasVideo({ state, job }: VersionInfo): boolean {
  return state === 'completed' && job.artifacts.some(({ name }) => name === 'video.mp4');
}

function stateOfVersion({ state, job }: VersionInfo, place: 'over' | '' = ''): Html {
  const isCanceled = state === 'failed' && job.failedBy === 'cancel';
  const { scenes: t, job: ofJob } = texts();
  return isCanceled
    ? html`<span class="tag ${place}">${ofJob.states.canceled}</span>`
    : html`<span class="tag ${LOOKS[state]} ${place}">${t.states[state]}</span>`;
}

/** The cards of scenes, with the pictures of their newest versions. */
export function sceneGrid(scenes: SceneInfo[], visit: Visit): Html {
  return html`<ul class="videos">${scenes.map((scene) => card(scene, visit))}</ul>`;
}

function card({ sceneId, name, changedAt, last }: SceneInfo, visit: Visit): Html {
  const { scenes: t } = texts();
  const path = `${BASE}${scenePath(sceneId)}`;
  const isPortrait = last?.job.aspectRatio === '9:16';
  return html`<li class="video ${isPortrait && 'portrait'}">
<a class="frame" href="${path}" tabindex="-1" aria-hidden="true">${last ? pictureOf(last, visit) : html`<span class="thumbnail none">${t.neverRendered}</span>`}</a>
${last && last.state !== 'completed' && stateOfVersion(last, 'over')}
<div class="about"><div><a class="name" href="${path}">${name}</a>
<p class="small muted">${filled(t.changed, { time: shownTime(changedAt) })}${last && html` · ${t.version(last.version)}`}</p></div></div></li>`;
}

/** The thumbnail of a version, its newest frame while it renders, or its class. */
function pictureOf({ state, job }: VersionInfo, visit: Pick<Visit, 'assetUrl'>): Value {
  // The names of an expired version's files are still known.
  return picture(state === 'expired' ? { ...job, artifacts: [] } : job, visit);
}

/** A version in the history of its scene, and what can be done with it. */
export function versionItem(version: VersionInfo, scene: SceneDetails, visit: Visit): Html {
  const { scenes: t } = texts();
  const { version: number, state, job } = version;
  const what = t.version(number);
  return html`<li class="version"><a class="thumb" href="${BASE}/jobs/${job.jobId}" aria-hidden="true" tabindex="-1">${pictureOf(version, visit)}</a>
<div><p><a href="${BASE}/jobs/${job.jobId}">${what}</a> ${stateOfVersion(version)}</p>
<p class="small muted">${shownTime(job.createdAt)}${state !== 'forgotten' && html` · ${settingsText(job)}`}</p>
${state === 'running' && html`<p class="small">${progressText(job.jobId, job.progress)}</p>`}${state === 'failed' && job.failedBy !== 'cancel' && html`<p class="small muted clip">${firstLine(job.error ?? '')}</p>`}</div>
${state !== 'forgotten' && versionActions(version, scene, visit)}</li>`;
}

function versionActions({ version, state }: VersionInfo, scene: SceneDetails, visit: Visit): Html {
  const { scenes: t, common } = texts();
  const { csrf } = visit;
  const path = scenePath(scene.sceneId);
  const what = t.version(version);
  return html`<div class="actions"><a class="small" href="${BASE}${path}/diff?from=v${version}&amp;to=draft" aria-label="${t.differencesOf(what)}">${t.differences}</a>${restoreForm(scene, { version }, what, csrf)}${
    state === 'expired' &&
    html`<form method="post" action="${BASE}${path}/versions/${version}/again">${csrfField(csrf)}<button aria-label="${t.renderAgainWhat(version)}">${common.renderAgain}</button></form>`
  }</div>`;
}

/** The form that makes a version or a draft the current draft, which is that of the revision of the scene. */
export function restoreForm(
  { sceneId, revision }: SceneDetails,
  from: { version: number } | { draft: number },
  what: string,
  csrf: string,
  label: string = texts().scenes.restore,
): Html {
  const { scenes: t } = texts();
  const [[name = '', number = 0] = []] = Object.entries(from);
  return html`<form method="post" action="${BASE}${scenePath(sceneId)}/restore">${csrfField(csrf)}<input type="hidden" name="revision" value="${revision}"><input type="hidden" name="${name}" value="${number}"><button aria-label="${t.restoreWhat(what)}">${label}</button></form>`;
}

/** `High, 16:9, 60 fps, Intro`. */
export function settingsText({
  quality,
  aspectRatio,
  fps,
  className,
}: Pick<VersionInfo['job'], 'quality' | 'aspectRatio' | 'fps' | 'className'>): string {
  return [shownQuality(quality), aspectRatio, texts().job.fps(fps), className].join(', ');
}

/** How a scene is rendered. */
export interface ShownSettings {
  /** Empty while none is chosen. */
  className: string;
  quality: string;
  aspectRatio: string;
  fps: number;
  /** JSON; empty: none. */
  params: string;
}

/** How a scene is rendered, with the defaults of what is not set. */
export function settingsOf({
  className,
  settings,
}: Pick<SceneDetails, 'className' | 'settings'>): ShownSettings {
  const { quality = 'medium', aspectRatio = '16:9', params } = settings;
  const { fps = QUALITIES[quality].fps } = settings;
  return { className, quality, aspectRatio, fps, params: params ? JSON.stringify(params) : '' };
}
