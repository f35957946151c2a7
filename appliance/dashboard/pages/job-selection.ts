import type { ErrorCode } from '../../../lib/index.ts';
import type { RemoteAdministration } from '../../admin/admin-socket.ts';
import { forEachJob } from '../../admin/many.ts';
import { counted } from '../format.ts';
import { type Html, html } from '../html.ts';
import { csrfField, note, page } from '../layout.ts';
import { type Answer, BASE, type Route, type Visit } from '../route.ts';

interface Action {
  /** `3 jobs were canceled`. */
  done: [one: string, several: string];
  apply: (admin: RemoteAdministration) => (request: { jobId: string }) => Promise<unknown>;
  /** Why it doesn't succeed: `2 had already ended`. */
  problems: Partial<Record<ErrorCode, string>>;
}

const TOO_MANY = 'not: too many at once for one account';

const ACTIONS: Record<string, Action> = {
  cancel: {
    done: ['was canceled', 'were canceled'],
    apply: (admin) => admin.jobs.cancel,
    problems: { conflict: 'had already ended', too_many_requests: TOO_MANY },
  },
  retry: {
    done: ['is rendered again', 'are rendered again'],
    apply: (admin) => admin.jobs.renderAgain,
    problems: {
      conflict: 'not: the account is disabled',
      not_found: 'not: the code was forgotten',
      insufficient_credits: 'not: the account has too few credits',
      too_many_failures: 'not: too many renders of the account failed in the last hour',
      too_many_requests: TOO_MANY,
      too_much_stored: 'not: the jobs of the account take as much space as they may',
      queue_full: 'not: too many are waiting',
    },
  },
  forget: {
    done: ['was forgotten', 'were forgotten'],
    apply: (admin) => admin.jobs.forget,
    problems: { conflict: 'had not ended: cancel first', too_many_requests: TOO_MANY },
  },
};

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
      const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
      const jobIds = formValues('jobId').slice(0, MOST_SELECTED);
      if (!action || jobIds.length === 0) return backTo(form['back'], { did: 'nothing' });
      if (name === 'forget' && form['confirmed'] === undefined) return confirmPage(visit, jobIds);
      const { done, problems } = await forEachJob(jobIds, action.apply(admin));
      const counts: Record<string, string> = {};
      for (const { code } of problems) counts[code] = String(Number(counts[code] ?? 0) + 1);
      return backTo(form['back'], { did: name, done: String(done.length), ...counts });
    },
  };
}

const RESULT = [
  'did',
  'done',
  'conflict',
  'not_found',
  'insufficient_credits',
  'too_many_failures',
  'too_many_requests',
  'too_much_stored',
  'queue_full',
];

/** The list as it was, with the result in its URL: reloading it repeats nothing. */
function backTo(search: string | undefined, result: Record<string, string>): Answer {
  const query = new URLSearchParams(search ?? '');
  for (const name of RESULT) query.delete(name);
  let others = 0;
  for (const [name, value] of Object.entries(result)) {
    if (RESULT.includes(name)) query.set(name, value);
    else others += Number(value);
  }
  if (others > 0) query.set('other', String(others));
  else query.delete('other');
  return { to: `/jobs?${query}` };
}

/** The result of the last action, from the URL. */
export function resultNote(query: Record<string, string>): Html | undefined {
  const name = query['did'] ?? '';
  if (name === 'nothing') return note('warn', 'No job was selected.');
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (!action) return undefined;
  const countOf = (field: string) =>
    Math.min(Math.max(Math.floor(Number(query[field]) || 0), 0), MOST_SELECTED);
  const done = countOf('done');
  const problems = [...RESULT.slice(2), 'other'].flatMap((code) => {
    const count = countOf(code);
    const why = action.problems[code as ErrorCode] ?? (code === 'not_found' ? 'not found' : 'failed');
    return count === 0 ? [] : [`${count} ${why}`];
  });
  const text = `${counted(done, 'job')} ${action.done[done === 1 ? 0 : 1]}.`;
  if (problems.length === 0) return note('good', text);
  return note(done === 0 ? 'bad' : 'warn', `${text} The others: ${problems.join('; ')}.`);
}

function confirmPage({ viewer, csrf, form }: Visit, jobIds: string[]): Html {
  const back = new URLSearchParams(form['back'] ?? '').toString();
  return page(
    { title: `Forget ${counted(jobIds.length, 'job')}`, section: 'jobs', viewer, csrf },
    html`<section class="card">
<p>Forget ${jobIds.length === 1 ? 'the selected job' : html`the <strong>${jobIds.length}</strong> selected jobs`}? Their code, metadata, errors and artifacts are erased. What they cost is kept. This cannot be undone.</p>
<form method="post" action="${BASE}/jobs/selection" class="actions">${csrfField(csrf)}
<input type="hidden" name="back" value="${back}"><input type="hidden" name="confirmed" value="yes">
${jobIds.map((jobId) => html`<input type="hidden" name="jobId" value="${jobId}">`)}
<button name="action" value="forget" class="danger">Forget</button><a class="button" href="${BASE}/jobs?${back}">Cancel</a></form>
</section>`,
  );
}
