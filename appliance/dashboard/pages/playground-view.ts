import { randomUUID } from 'node:crypto';
import type { JobDetails } from '../../admin/administration-views.ts';
import type { InspectionInfo } from '../../admin/job-pictures.ts';
import { PLAYGROUND_ASSET } from '../assets/assets.ts';
import { shownDuration } from '../format.ts';
import { type Html, html, isShort, type Value, wholeText } from '../html.ts';
import { filled } from '../language/filled.ts';
import { texts } from '../language/texts.ts';
import { csrfField, note, page, postButton, toldNote } from '../layout.ts';
import { BASE, type Visit } from '../route.ts';
import { SNIPPETS, type SnippetName } from '../snippets.ts';
import { instructionText } from './assignment-views.ts';
import { inspection } from './inspection.ts';
import { lastVideo, outcome } from './outcome.ts';
import { type Draft, draftOfJob } from './playground-form.ts';
import {
  choice,
  filePicker,
  gallery,
  nothingYet,
  qualityLabels,
  shownParams,
  tooLong,
  tools,
} from './playground-parts.ts';
import { conflict, type EditedScene } from './playground-scene.ts';
import { scenePath } from './scene-views.ts';

/** What is edited of a code: nearly all that may be posted, unless most of it is characters that HTML escapes. */
const MOST_EDITED_BYTES = 260_000;
/** More would only make a long list. */
const MOST_OFFERED = 200;
/** Of a command or a program; the script of the page writes longer ones. */
const MOST_SNIPPET_BYTES = 30_000;

const SNIPPET_LABELS: Record<SnippetName, string> = { curl: 'curl', node: 'Node', python: 'Python' };

/** What a page shows beside the form. */
export interface Shown {
  job?: JobDetails | undefined;
  /** The last one before it that has completed. */
  last?: JobDetails | undefined;
  /** The scene that is edited. */
  scene?: EditedScene | undefined;
  problem?: string;
  inspected?: InspectionInfo;
}

/** The page with the editor. */
export async function playground(
  visit: Visit,
  draft: Draft,
  { job, last, scene, problem, inspected }: Shown = {},
): Promise<Html> {
  const { playground: t, common } = texts();
  const { viewer, csrf, publicUrl } = visit;
  const keys = html`<kbd>${t.ctrl}</kbd> <kbd>${t.enter}</kbd>`;
  const isEditable = isShort(draft.code, MOST_EDITED_BYTES);
  // Without its code, the form must not save it.
  const edited = isEditable ? scene : undefined;
  const assignment = scene && (await visit.admin.assignments.ofScene({ sceneId: scene.sceneId }));
  const isChanged = scene && job && requestText(draft) !== requestText(draftOfJob(job));
  return page(
    {
      title: scene?.name ?? t.title,
      section: 'playground',
      lead: scene && html`<a href="${BASE}${scenePath(scene.sceneId)}">${t.history}</a>`,
      viewer,
      csrf,
      script: PLAYGROUND_ASSET.path,
      scriptTexts: t.script,
    },
    html`<div id="problem">${problem !== undefined && note('bad', problem)}${!isEditable && note('warn', tooLong(job, scene))}${toldNote(visit.told)}</div>
${assignment?.instructions != null && html`<details class="card more" open><summary>${texts().assignments.instructions}</summary><div class="body">${instructionText(assignment.instructions)}</div></details>`}
<div id="conflict">${edited ? conflict(edited, draft) : scene?.theirs && note('bad', t.conflict)}</div>
<div class="playground" id="playground" data-account="${viewer.accountId}" data-public-url="${publicUrl}" data-changed="${isChanged && 'yes'}">
<form method="post" action="${BASE}/playground" class="card flush" id="editing">${csrfField(csrf)}
<input type="hidden" name="job" value="${job?.jobId}"><input type="hidden" name="last" value="${last?.jobId}"><input type="hidden" name="once" value="${randomUUID()}">${edited && html`<input type="hidden" name="scene" value="${edited.sceneId}"><input type="hidden" name="revision" value="${edited.revision}">`}
<div class="toolbar">
${choice(common.scene, 'className', draft.className, [['', t.onlyScene], ...draft.scenes.slice(0, MOST_OFFERED).map((name): [string, string] => [name, name])])}
${choice(common.quality, 'quality', draft.quality, qualityLabels())}
${choice(t.format, 'aspectRatio', draft.aspectRatio, [
  ['16:9', '16:9'],
  ['9:16', '9:16'],
])}
<label>${t.fps}<input name="fps" inputmode="numeric" pattern="[1-9][0-9]*" size="4" value="${draft.fps}" placeholder="${t.auto}" autocomplete="off"></label>
<span class="actions"><button formaction="${BASE}/playground/inspect" title="${t.inspectHint}">${t.inspect}</button><button class="primary" title="${t.renderHint}">${t.render}</button></span>
</div>
${tools(draft.params)}
<div id="kept" class="kept small" hidden>${edited ? t.unsaved : t.drafts} <span class="actions"></span></div>
<textarea name="code" class="mono" aria-label="${t.code}" spellcheck="false" autocapitalize="off" autocomplete="off" wrap="off" rows="26" required>\n${wholeText(isEditable ? draft.code : '')}</textarea>
<div id="editor" class="editor" hidden></div>
<p class="keys small muted"><button type="button" class="link" id="insert-file" hidden>${t.insertFile}</button>${saveButton(edited)}${filled(t.renders, { keys })}<span>${filled(t.leaves, { esc: html`<kbd>Esc</kbd>`, tab: html`<kbd>Tab</kbd>` })}</span></p>
</form>${filePicker()}
<div class="stack"><div id="inspection">${inspected && inspection(inspected)}</div>
<div id="result" class="stack" data-live>${job ? await result(job, visit, last) : nothingYet()}</div></div>
</div>
${!scene && gallery()}
${snippets(draft, publicUrl)}`,
  );
}

/** What a draft asks to render, for comparison. */
function requestText({ code, className, quality, aspectRatio, fps, params }: Draft): string {
  return JSON.stringify([code, className, quality, aspectRatio, fps, params]);
}

/** Gives the code as an assignment; keeps it as a scene, or saves the draft of one, which the script of the page does by itself. */
function saveButton(edited: EditedScene | undefined): Html {
  const { playground: t, common, assignments } = texts();
  const assign = html`<button class="link" formaction="${BASE}/playground/assign" title="${assignments.assignHint}">${assignments.assign}</button>`;
  if (!edited)
    return html`<button class="link" formaction="${BASE}/playground/keep" title="${t.saveAsSceneHint}">${t.saveAsScene}</button>${assign}`;
  return html`<button class="link" formaction="${BASE}/playground/save">${common.save}</button>${assign}<span id="saved" role="status"></span>`;
}

async function result(job: JobDetails, visit: Visit, last: JobDetails | undefined): Promise<Value> {
  const { playground: t, common, counts } = texts();
  const { assetUrl, csrf } = visit;
  const { jobId, status, error, diagnosis, durationMs, creditsCost } = job;
  const isOver = status === 'completed' || status === 'failed';
  return html`<div class="stack" data-job="${jobId}" data-status="${status}" data-line="${diagnosis?.line ?? undefined}" data-error="${error}" data-hint="${diagnosis?.hint ?? undefined}">
${await outcome(job, visit)}
<div class="actions small muted">${
    isOver
      ? html`<span>${shownDuration(durationMs)} · ${counts.credits(creditsCost)} · <a href="${BASE}/jobs/${jobId}">${t.openJob}</a></span>`
      : [
          postButton({ to: `/jobs/${jobId}/cancel`, csrf, label: common.cancel }),
          html`<span>${t.replacesIt}</span>`,
        ]
  }</div>${status === 'failed' && last && lastVideo(last, assetUrl)}</div>`;
}

function snippets({ code, className, quality, aspectRatio, fps, params }: Draft, publicUrl: string): Html {
  const { playground: t, common } = texts();
  const more = {
    ...(fps !== '' && { fps: Number(fps) }),
    ...shownParams(params),
  };
  const request = { code, className, quality, aspectRatio, ...more };
  const names = Object.keys(SNIPPETS) as SnippetName[];
  const isWritten = isShort(code, MOST_SNIPPET_BYTES);
  const textOf = (name: SnippetName) => {
    const text = isWritten ? SNIPPETS[name](request, publicUrl) : '';
    return isWritten && isShort(text, MOST_SNIPPET_BYTES) ? wholeText(text) : t.tooLongForSnippet;
  };
  return html`<section class="stack" aria-labelledby="snippets-title"><div><h2 id="snippets-title">${t.fromProgram}</h2>
<p class="muted">${filled(t.fromProgramText, { key: html`<a href="${BASE}/keys">${t.apiKey}</a>` })}</p></div>
<div class="card flush">${names.map(
    (name) =>
      html`<details class="snippet"><summary>${SNIPPET_LABELS[name]}</summary><div class="stack"><div class="actions"><button type="button" data-copy="snippet-${name}" hidden>${common.copy}</button></div><pre class="wrap" id="snippet-${name}" tabindex="0">${textOf(name)}</pre></div></details>`,
  )}</div></section>`;
}
