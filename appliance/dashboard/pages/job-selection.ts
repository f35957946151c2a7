import type { ErrorCode } from '../../../lib/index.ts';
import type { RemoteAdministration } from '../../admin/admin-socket.ts';
import { forEachJob, type Problem } from '../../admin/many.ts';
import { type Html, html } from '../html.ts';
import type { Texts } from '../language/en/index.ts';
import { filled } from '../language/filled.ts';
import { texts } from '../language/texts.ts';
import { csrfField, page } from '../layout.ts';
import { type Answer, BASE, type Note, type Route, type Visit } from '../route.ts';

type ActionName = keyof Texts['jobs']['done'];
type Reason = keyof Texts['jobs']['reasons'];

interface Action {
  name: ActionName;
  apply: (admin: RemoteAdministration) => (request: { jobId: string }) => Promise<unknown>;
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
};

const OTHERWISE: Partial<Record<ErrorCode, Reason>> = { not_found: 'notFound' };

const MOST_SELECTED = 200;

/** Cancels, renders again or forgets the selected jobs; the list then says how many succeeded, and why others didn't. */
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
      if (!action || jobIds.length === 0) {
        return backTo(form['back'], { kind: 'warn', text: texts().jobs.noneSelected });
      }
      if (name === 'forget' && form['confirmed'] === undefined) return confirmPage(visit, jobIds);
      const { done, problems } = await forEachJob(jobIds, action.apply(admin));
      return backTo(form['back'], result(action, done.length, problems));
    },
  };
}

/** The list as it was. */
function backTo(search: string | undefined, note: Note): Answer {
  const query = new URLSearchParams(search ?? '').toString();
  return { to: `/jobs${query && `?${query}`}`, tell: { note } };
}

/** `1 job was canceled. 2 were not: already ended.` */
function result({ name, problems: reasons }: Action, count: number, problems: Problem[]): Note {
  const { jobs: t, counts } = texts();
  const reasonOf = ({ code }: Problem) => t.reasons[reasons[code] ?? OTHERWISE[code] ?? 'error'];
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
  return page(
    { title: t.forgetTitle(counts.jobs(jobIds.length)), section: 'jobs', viewer, csrf },
    html`<section class="card">
<p>${filled(jobIds.length === 1 ? t.forgetOne : t.forgetSeveral, { count: html`<strong>${jobIds.length}</strong>` })}</p>
<form method="post" action="${BASE}/jobs/selection" class="actions">${csrfField(csrf)}
<input type="hidden" name="back" value="${back}"><input type="hidden" name="confirmed" value="yes">
${jobIds.map((jobId) => html`<input type="hidden" name="jobId" value="${jobId}">`)}
<button name="action" value="forget" class="danger">${t.forgetConfirmed}</button><a class="button" href="${BASE}/jobs?${back}">${common.cancel}</a></form>
</section>`,
  );
}
