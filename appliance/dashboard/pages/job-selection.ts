import type { ErrorCode } from '../../../lib/index.ts';
import type { RemoteAdministration } from '../../admin/admin-socket.ts';
import { forEachJob, type Problem } from '../../admin/many.ts';
import { counted } from '../format.ts';
import { type Html, html } from '../html.ts';
import { csrfField, page } from '../layout.ts';
import { type Answer, BASE, type Note, type Route, type Visit } from '../route.ts';

interface Action {
  /** `3 jobs were canceled`. */
  done: [one: string, several: string];
  apply: (admin: RemoteAdministration) => (request: { jobId: string }) => Promise<unknown>;
  /** Why it doesn't succeed. */
  problems: Partial<Record<ErrorCode, string>>;
}

const TOO_MANY = 'too many changes at once';

const ACTIONS: Record<string, Action> = {
  cancel: {
    done: ['was canceled', 'were canceled'],
    apply: (admin) => admin.jobs.cancel,
    problems: { conflict: 'already ended', too_many_requests: TOO_MANY },
  },
  retry: {
    done: ['is rendered again', 'are rendered again'],
    apply: (admin) => admin.jobs.renderAgain,
    problems: {
      conflict: 'the account is disabled',
      not_found: 'the code was forgotten',
      insufficient_credits: 'the account has too few credits',
      too_many_failures: 'too many renders of the account failed in the last hour',
      too_many_requests: TOO_MANY,
      too_much_stored: 'the jobs of the account take as much space as they may',
      queue_full: 'too many are waiting',
    },
  },
  forget: {
    done: ['was forgotten', 'were forgotten'],
    apply: (admin) => admin.jobs.forget,
    problems: { conflict: 'not ended yet, cancel first', too_many_requests: TOO_MANY },
  },
};

const OTHERWISE: Partial<Record<ErrorCode, string>> = { not_found: 'not found' };

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
      if (!action || jobIds.length === 0) {
        return backTo(form['back'], { kind: 'warn', text: 'No job was selected.' });
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
function result({ done, problems: reasons }: Action, count: number, problems: Problem[]): Note {
  const [was, were] = done;
  const groups = [...Map.groupBy(problems, ({ code }) => reasons[code] ?? OTHERWISE[code] ?? 'an error')];
  if (count === 0) {
    const why = groups.map(([reason, { length }]) =>
      groups.length === 1 ? reason : `${reason} (${length})`,
    );
    return { kind: 'bad', text: `No job ${was}: ${why.join(', ')}.` };
  }
  const others = groups.map(
    ([reason, { length }]) => ` ${length} ${length === 1 ? 'was' : 'were'} not: ${reason}.`,
  );
  const text = `${counted(count, 'job')} ${count === 1 ? was : were}.${others.join('')}`;
  return { kind: problems.length === 0 ? 'good' : 'warn', text };
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
