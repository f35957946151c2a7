import { isScenepressError, type SceneSettings } from '../../../lib/internal.ts';
import type { RemoteAdministration } from '../../admin/admin-socket.ts';
import type { SceneDetails } from '../../admin/scene-views.ts';
import { httpErrorOf } from '../../http/http-errors.ts';
import { shownTime } from '../format.ts';
import { type Html, html } from '../html.ts';
import { filled } from '../language/filled.ts';
import { texts } from '../language/texts.ts';
import { BASE, type Route, type Visit } from '../route.ts';
import { differences } from './diff-view.ts';
import { type Draft, draftIn, MOST_FORM_BYTES } from './playground-form.ts';
import { paramsIn } from './playground-parts.ts';
import { scenePath, settingsOf } from './scene-views.ts';

/** The scene whose draft is edited. */
export interface EditedScene extends Pick<SceneDetails, 'sceneId' | 'name' | 'account'> {
  /** Of the draft that the text in the editor was made of. */
  revision: number;
  /** What was saved elsewhere since then. */
  theirs?: SceneDetails;
}

/** For the script: saves the draft of a scene while it is written. */
export const SAVE_ROUTE: Route = {
  method: 'POST',
  path: '/scenes/{sceneId}/save',
  for: 'members',
  mostBytes: MOST_FORM_BYTES,
  async handler({ admin, params, form, h }) {
    const edited = { sceneId: params['sceneId'] ?? '', revision: Number(form['revision']) };
    try {
      const keepsReplaced = form['keeps'] === 'yes';
      const { revision } = await saveDraft(admin, edited, draftIn(form), { keepsReplaced });
      return { response: h.response({ revision }) };
    } catch (error) {
      if (!isScenepressError(error)) throw error;
      const { status, body, headers } = httpErrorOf(error);
      return { response: h.response({ message: body.message ?? body.error }).code(status), headers };
    }
  },
};

/** The scene of the form; undefined without one. Error: `not_found`. */
export async function editedIn({ admin, form }: Visit): Promise<EditedScene | undefined> {
  const { scene: sceneId, revision, over } = form;
  if (!sceneId) return undefined;
  const { name, account } = await admin.scenes.show({ sceneId });
  // A person who has seen what was saved elsewhere saves over it.
  return { sceneId, name, account, revision: Number(over || revision) };
}

/** What was saved elsewhere, if that is why a draft was refused. */
export async function savedElsewhere(
  { admin }: Visit,
  edited: EditedScene | undefined,
  error: unknown,
): Promise<SceneDetails | undefined> {
  if (!edited || !isScenepressError(error, 'conflict')) return undefined;
  const theirs = await admin.scenes.show(edited);
  return theirs.revision === edited.revision ? undefined : theirs;
}

/** Saves what the form has; settings that it has no fields for stay. Errors: those of {@link Scenes.save}. */
export async function saveDraft(
  admin: RemoteAdministration,
  { sceneId, revision }: Pick<EditedScene, 'sceneId' | 'revision'>,
  draft: Draft,
  { keepsReplaced = false }: { keepsReplaced?: boolean } = {},
): Promise<SceneDetails> {
  const { settings } = await admin.scenes.show({ sceneId });
  const { code, className } = draft;
  return admin.scenes.save({
    ...{ sceneId, revision, code, className, keepsReplaced },
    settings: settingsIn(draft, settings),
  });
}

/** The settings of the form beside others. */
export function settingsIn(draft: Draft, settings: SceneSettings = {}): SceneSettings {
  const { fps: _, params: __, ...others } = settings;
  const { quality, aspectRatio, fps } = draft;
  const params = paramsIn(draft.params);
  const given = { quality, aspectRatio, ...(fps !== '' && { fps: Number(fps) }), ...(params && { params }) };
  // Checked where they are saved.
  return { ...others, ...given } as SceneSettings;
}

/** The draft of a scene as the form has it. */
export function draftOfScene({ code, className, settings }: SceneDetails): Draft {
  const { quality, aspectRatio, params } = settingsOf({ className, settings });
  const fps = settings.fps === undefined ? '' : String(settings.fps);
  const scenes = className === '' ? [] : [className];
  return { code, className, scenes, quality, aspectRatio, fps, params };
}

/** Says that a scene was saved elsewhere, with both texts, and lets a person choose. */
export function conflict({ sceneId, theirs }: EditedScene, draft: Draft): Html | undefined {
  if (!theirs) return undefined;
  const { playground: t } = texts();
  const mine = {
    code: draft.code,
    ...settingsOf({ className: draft.className, settings: shownSettings(draft) }),
  };
  const over = (path: string, label: string, look = '') =>
    html`<button class="${look}" form="editing" formaction="${BASE}/playground/${path}" name="over" value="${theirs.revision}">${label}</button>`;
  return html`<section class="card conflict" aria-labelledby="conflict-title"><h2 id="conflict-title">${t.conflict}</h2>
<p role="alert">${filled(t.conflictText, { time: shownTime(theirs.changedAt) })}</p>
<div class="actions">${over('save', t.saveMine, 'primary')}${over('take', t.takeTheirs)}<button form="editing" formaction="${BASE}/playground/keep">${t.saveAsAnother}</button><a href="${BASE}${scenePath(sceneId)}" target="_blank">${t.openScene}</a></div>
<p class="small muted">${t.conflictKeeps}</p>
<details open><summary>${t.conflictChanges}</summary><div class="stack">${differences({ code: theirs.code, ...settingsOf(theirs) }, mine)}</div></details></section>`;
}

/** Of a form that may be wrong, for what is only shown. */
function shownSettings(draft: Draft): SceneSettings {
  try {
    return settingsIn(draft);
  } catch {
    return settingsIn({ ...draft, params: '' });
  }
}
