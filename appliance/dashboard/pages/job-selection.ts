import type { ErrorCode } from '../../../lib/index.ts';
import type { RemoteAdministration } from '../../admin/admin-socket.ts';
import { forEachJob, type Problem } from '../../admin/many.ts';
import { type Html, html } from '../html.ts';
import type { Texts } from '../language/en/index.ts';
import { filled } from '../language/filled.ts';
import { texts } from '../language/texts.ts';
import { csrfField, page } from '../layout.ts';
import { type Answer, BASE, type Note, type Route, type Visit } from '../route.ts';
import { shareSelected } from './share-selection.ts';

type ActionName = keyof Texts['jobs']['done'];
type Reason = keyof Texts['jobs']['reasons'];

interface Action {
  name: ActionName;
  /** `text`: what was entered beside the button. */
  apply: (admin: RemoteAdministration, text: string) => (request: { jobId: string }) => Promise<unknown>;
  /** Why it doesn't succeed. */
  problems: Partial<Record<ErrorCode, Reason>>;
}

const ACTIONS: Record<ActionName, Action> = {
  cancel: {
    name: 'cancel',
    apply: (admin) => admin.jobs.cancel,
    problems: { conflict: 'ended', too_many_requests: 'tooMany' },
  },
  retry: {
    name: 'retry',
    apply: (admin) => admin.jobs.renderAgain,
    problems: {
      conflict: 'disabled',
      not_found: 'codeForgotten',
      insufficient_credits: 'tooFewCredits',
      too_many_failures: 'tooManyFailures',
      too_many_requests: 'tooMany',
      too_much_stored: 'tooMuchStored',
      queue_full: 'queueFull',
    },
  },
  forget: {
    name: 'forget',
    apply: (admin) => admin.jobs.forget,
    problems: { conflict: 'notEnded', too_many_requests: 'tooMany' },
  },
  star: labeling(
    'star',
    (admin) =>
      ({ jobId }) =>
        admin.jobs.relabel({ jobId, starred: true }),
  ),
  unstar: labeling(
    'unstar',
    (admin) =>
      ({ jobId }) =>
        admin.jobs.relabel({ jobId, starred: false }),
  ),
  move: labeling('move', (admin, text) => ({ jobId }) => {
    return admin.jobs.relabel({ jobId, project: text.trim() || null });
  }),
  tag: labeling('tag', (admin, text) => async ({ jobId }) => {
    const { tags } = await admin.jobs.show({ jobId });
    return admin.jobs.relabel({ jobId, tags: [...new Set([...tags, ...tagsIn(text)])] });
  }),
};

function labeling(name: ActionName, apply: Action['apply']): Action {
  return { name, apply, problems: { conflict: 'forgotten' } };
}

/** Tags that are separated by commas. */
export function tagsIn(text: string): string[] {
  const tags = new Set(text.split(',').map((tag) => tag.trim()));
  tags.delete('');
  return [...tags];
}

const OTHERWISE: Partial<Record<ErrorCode, Reason>> = { not_found: 'notFound' };

const MOST_SELECTED = 200;

/**
 * Does something with the selected jobs; the list then says how many succeeded, and why others didn't. Or shares their videos,
 * which leads to the page of the link.
 */
export function selectionRoute(): Route {
  return {
    method: 'POST',
    path: '/jobs/selection',
    for: 'members',
    async handler(visit): Promise<Answer> {
      const { admin, form, formValues } = visit;
      const name = form['action'] ?? '';
      const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name as ActionName] : undefined;
      const jobIds = formValues('jobId').slice(0, MOST_SELECTED);
      if ((!action && name !== 'share') || jobIds.length === 0) {
        return backTo(form, { kind: 'warn', text: texts().jobs.noneSelected });
      }
      if (!action) return shareSelected(visit, jobIds, (text) => backTo(form, { kind: 'bad', text }));
      if (name === 'forget' && form['confirmed'] === undefined) return confirmPage(visit, jobIds);
      const { done, problems } = await forEachJob(jobIds, action.apply(admin, form[`${name}To`] ?? ''));
      return backTo(form, result(action, done.length, problems));
    },
  };
}

/** The page as it was. */
function backTo(form: Visit['form'], note: Note): Answer {
  return { to: pathBack(form), tell: { note } };
}

/** The library or the list of jobs, with its filters. */
function pathBack({ back, page }: Visit['form']): string {
  const query = new URLSearchParams(back ?? '').toString();
  return `${page === 'library' ? '' : '/jobs'}${query && `?${query}`}`;
}

/** `1 job was canceled. 2 were not: already ended.` */
function result({ name, problems: reasons }: Action, count: number, problems: Problem[]): Note {
  const { jobs: t, counts } = texts();
  const reasonOf = ({ code, message }: Problem) =>
    code === 'invalid_request'
      ? message.replace(/\.$/, '')
      : t.reasons[reasons[code] ?? OTHERWISE[code] ?? 'error'];
  const groups = [...Map.groupBy(problems, reasonOf)];
  if (count === 0) {
    const why = groups.map(([reason, { length }]) =>
      groups.length === 1 ? reason : `${reason} (${length})`,
    );
    return { kind: 'bad', text: t.noneDone[name](why.join(', ')) };
  }
  const others = groups.map(([reason, { length }]) => t.others(length, reason));
  const text = t.done[name](count, counts.jobs(count)) + others.join('');
  return { kind: problems.length === 0 ? 'good' : 'warn', text };
}

function confirmPage({ viewer, csrf, form }: Visit, jobIds: string[]): Html {
  const { jobs: t, common, counts } = texts();
  const back = new URLSearchParams(form['back'] ?? '').toString();
  const { page: of } = form;
  return page(
    {
      title: t.forgetTitle(counts.jobs(jobIds.length)),
      section: of === 'library' ? 'overview' : 'jobs',
      viewer,
      csrf,
    },
    html`<section class="card">
<p>${filled(jobIds.length === 1 ? t.forgetOne : t.forgetSeveral, { count: html`<strong>${jobIds.length}</strong>` })}</p>
<form method="post" action="${BASE}/jobs/selection" class="actions">${csrfField(csrf)}
<input type="hidden" name="back" value="${back}"><input type="hidden" name="page" value="${of}"><input type="hidden" name="confirmed" value="yes">
${jobIds.map((jobId) => html`<input type="hidden" name="jobId" value="${jobId}">`)}
<button name="action" value="forget" class="danger">${t.forgetConfirmed}</button><a class="button" href="${BASE}${pathBack(form)}">${common.cancel}</a></form>
</section>`,
  );
}
