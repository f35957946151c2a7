import { badRequest } from '@hapi/boom';
import { isScenepressError } from '../../../lib/internal.ts';
import type { JobDetails } from '../../admin/administration-views.ts';
import { httpErrorOf } from '../../http/http-errors.ts';
import { EXAMPLES } from '../assets/examples.ts';
import type { Html } from '../html.ts';
import { texts } from '../language/texts.ts';
import type { Answer, Route, Visit } from '../route.ts';
import {
  type Draft,
  draftIn,
  draftOfJob,
  MOST_FORM_BYTES,
  onceFor,
  renderInstead,
  requestOf,
  shownBefore,
} from './playground-form.ts';
import { FILES_ROUTE } from './playground-parts.ts';
import {
  draftOfScene,
  type EditedScene,
  editedIn,
  SAVE_ROUTE,
  saveDraft,
  savedElsewhere,
  settingsIn,
} from './playground-scene.ts';
import { playgroundScriptRoutes } from './playground-script.ts';
import { playground, type Shown } from './playground-view.ts';

/** An editor whose scenes can be rendered. */
export function playgroundRoutes(): Route[] {
  return [
    { method: 'GET', path: '/playground', for: 'members', handler: openPage },
    FILES_ROUTE,
    { method: 'POST', path: '/playground', for: 'members', mostBytes: MOST_FORM_BYTES, handler: render },
    ...playgroundScriptRoutes(),
    SAVE_ROUTE,
    ...Object.entries({ inspect, save, take, keep, assign }).map(
      ([name, handler]): Route => ({
        method: 'POST',
        path: `/playground/${name}`,
        for: 'members',
        mostBytes: MOST_FORM_BYTES,
        handler,
      }),
    ),
    {
      method: 'GET',
      path: '/pictures/{snapshotId}/{name}',
      for: 'members',
      async handler({ admin, viewer, params, h }) {
        const { snapshotId = '', name = '' } = params;
        const picture = await admin.jobs.showPicture({ account: viewer.accountId, snapshotId, name });
        return {
          response: h
            .response(Buffer.from(picture.base64, 'base64'))
            .type(picture.contentType)
            .header('Cache-Control', 'private, max-age=3600'),
        };
      },
    },
  ];
}

async function openPage(visit: Visit): Promise<Html> {
  const { admin, query } = visit;
  const jobId = query['job'];
  if (query['scene'] !== undefined) {
    const scene = await admin.scenes.show({ sceneId: query['scene'] });
    const [job, last] = await Promise.all([
      shownBefore(visit, jobId ?? scene.lastVersion?.jobId),
      shownBefore(visit, query['last']),
    ]);
    return playground(visit, draftOfScene(scene), { job, last, scene });
  }
  if (jobId !== undefined) {
    const job = await admin.jobs.showDetails({ jobId });
    const last = await shownBefore(visit, query['last']);
    return playground(visit, draftOfJob(job), { job, last });
  }
  const example = EXAMPLES.find(({ name }) => name === query['example']) ?? EXAMPLES[0];
  const { code, className, aspectRatio } = example;
  const settings = { quality: 'low', aspectRatio, fps: '', params: '' };
  return playground(visit, { code, className, scenes: [className], ...settings });
}

/** What the page showed that sent the form. */
async function shownIn(visit: Visit): Promise<Shown> {
  const { form } = visit;
  const [job, last, scene] = await Promise.all([
    shownBefore(visit, form['job']),
    shownBefore(visit, form['last']),
    editedIn(visit),
  ]);
  return { job, last, scene };
}

async function render(visit: Visit): Promise<Answer> {
  const { admin, form, viewer } = visit;
  const draft = draftIn(form);
  const shown = await shownIn(visit);
  const { job, last, scene } = shown;
  try {
    const request = await requestOf(visit, draft);
    const idempotencyKey = form['once'] && onceFor(form['once'], { ...request, sceneId: scene?.sceneId });
    const once = idempotencyKey ? { idempotencyKey } : {};
    const jobId = await renderInstead(visit, job, {
      account: scene?.account ?? viewer.email,
      async render() {
        if (!scene) return admin.jobs.render({ account: viewer.accountId, ...request, ...once });
        const { sceneId, revision } = await saveDraft(admin, scene, draft);
        return (await admin.scenes.render({ sceneId, revision, ...once })).job;
      },
    });
    const good = job?.status === 'completed' ? job : last;
    const page = { ...(scene && { scene: scene.sceneId }), job: jobId, ...(good && { last: good.jobId }) };
    return { to: `/playground?${new URLSearchParams(page)}` };
  } catch (error) {
    return refused(visit, draft, error, shown);
  }
}

/** Whether a job of the viewer rendered this code and is no version of a scene. */
async function isOfDraft(
  { admin, viewer }: Visit,
  { jobId, account, code, className }: JobDetails,
  draft: Draft,
): Promise<boolean> {
  if (account !== viewer.email || code !== draft.code || className !== draft.className) return false;
  return (await admin.scenes.ofJob({ jobId })) === null;
}

async function inspect(visit: Visit): Promise<Answer> {
  const { admin, form, viewer } = visit;
  const draft = draftIn(form);
  const shown = await shownIn(visit);
  try {
    const request = await requestOf(visit, draft);
    const inspected = await admin.jobs.inspect({ account: viewer.accountId, ...request });
    return playground(visit, draft, { ...shown, inspected });
  } catch (error) {
    return refused(visit, draft, error, shown);
  }
}

/** Saves the draft of the scene; also over what was saved elsewhere, which stays among the drafts. */
async function save(visit: Visit): Promise<Answer> {
  return changeScene(visit, async (scene, draft) => {
    const keepsReplaced = Boolean(visit.form['over']);
    await saveDraft(visit.admin, scene, draft, { keepsReplaced });
    return scene.sceneId;
  });
}

/** Takes what was saved elsewhere; what the form has stays among the drafts. */
async function take(visit: Visit): Promise<Answer> {
  return changeScene(visit, async (scene, draft) => {
    const { admin } = visit;
    const { sceneId, revision: theirs } = scene;
    const { revision } = await saveDraft(admin, scene, draft, { keepsReplaced: true });
    if (revision !== theirs) await admin.scenes.restore({ sceneId, revision, draft: theirs });
    return sceneId;
  });
}

async function changeScene(
  visit: Visit,
  change: (scene: EditedScene, draft: Draft) => Promise<string>,
): Promise<Answer> {
  const draft = draftIn(visit.form);
  const shown = await shownIn(visit);
  const { scene } = shown;
  if (!scene) throw badRequest(texts().playground.noSceneChosen);
  try {
    const sceneId = await change(scene, draft);
    const text = texts().playground.script.saved;
    return { to: `/playground?scene=${sceneId}`, tell: { note: { kind: 'good', text } } };
  } catch (error) {
    return refused(visit, draft, error, shown);
  }
}

/** Keeps what the form has as a scene of its own, beside the job that the page shows. */
async function keep(visit: Visit): Promise<Answer> {
  const draft = draftIn(visit.form);
  const shown = await shownIn(visit);
  const { scene, job } = shown;
  try {
    const sceneId = await addScene(visit, draft, shown);
    const page = { scene: sceneId, ...(!scene && job && { job: job.jobId }) };
    return { to: `/playground?${new URLSearchParams(page)}` };
  } catch (error) {
    return refused(visit, draft, error, shown);
  }
}

/** Leads to the form of an assignment of the scene, which is saved before, or kept if there is none yet. */
async function assign(visit: Visit): Promise<Answer> {
  const { admin, form } = visit;
  const draft = draftIn(form);
  const shown = await shownIn(visit);
  const { scene } = shown;
  try {
    if (scene) await saveDraft(admin, scene, draft);
    const sceneId = scene?.sceneId ?? (await addScene(visit, draft, shown));
    return { to: `/assignments/new?scene=${encodeURIComponent(sceneId)}` };
  } catch (error) {
    return refused(visit, draft, error, shown);
  }
}

/**
 * Adds a scene with the name of its class, or as a copy of the one that is edited. The job that the page shows becomes its
 * first version, if it rendered this code.
 */
async function addScene(visit: Visit, draft: Draft, { scene: edited, job }: Shown): Promise<string> {
  const { admin, viewer } = visit;
  const { code, className } = draft;
  const earlier = edited && (await admin.scenes.show(edited));
  const isFirst = !earlier && job && (await isOfDraft(visit, job, draft));
  const { sceneId } = await admin.scenes.create({
    account: earlier?.account ?? viewer.accountId,
    name: earlier ? texts().playground.copyOf(earlier.name) : className || texts().common.scene,
    ...{ code, className, settings: settingsIn(draft, earlier?.settings) },
    ...(isFirst && { jobId: job.jobId }),
  });
  return sceneId;
}

/** The page with why a form was refused. */
async function refused(visit: Visit, draft: Draft, error: unknown, shown: Shown): Promise<Answer> {
  if (!isScenepressError(error)) throw error;
  const { status, body } = httpErrorOf(error);
  const { scene } = shown;
  const theirs = await savedElsewhere(visit, scene, error);
  const told = theirs && scene ? { scene: { ...scene, theirs } } : { problem: body.message ?? body.error };
  return { page: await playground(visit, draft, { ...shown, ...told }), status };
}
