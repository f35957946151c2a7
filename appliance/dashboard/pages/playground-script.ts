import { isScenepressError } from '../../../lib/internal.ts';
import type { Route, Visit } from '../route.ts';
import { draftIn, MOST_FORM_BYTES, requireCode } from './playground-form.ts';
import { paramsIn } from './playground-parts.ts';

/** What the script of the playground asks while a scene is written. */
export function playgroundScriptRoutes(): Route[] {
  return [
    {
      method: 'POST',
      path: '/playground/scenes',
      for: 'members',
      mostBytes: MOST_FORM_BYTES,
      handler: async (visit) => ({ response: visit.h.response(await scenesIn(visit)) }),
    },
    {
      method: 'POST',
      path: '/playground/check',
      for: 'members',
      mostBytes: MOST_FORM_BYTES,
      handler: async (visit) => ({ response: visit.h.response(await findingsIn(visit, 'check')) }),
    },
    {
      method: 'POST',
      path: '/playground/read',
      for: 'members',
      mostBytes: MOST_FORM_BYTES,
      handler: async (visit) => ({ response: visit.h.response(await findingsIn(visit, 'read')) }),
    },
  ];
}

/** For the script: the scenes of the code, or why it can't be run. */
async function scenesIn({ admin, form, viewer }: Visit): Promise<object> {
  const { code } = draftIn(form);
  try {
    requireCode(code);
    return await admin.jobs.listScenes({ account: viewer.accountId, code });
  } catch (error) {
    if (!isScenepressError(error)) throw error;
    // Errors in the code; others are passed on.
    return isScenepressError(error, 'invalid_request') ? { error: error.message } : {};
  }
}

/** For the script: what is wrong with the code, as far as that is known in time, by running or by reading it. */
async function findingsIn({ admin, form, viewer }: Visit, how: 'check' | 'read'): Promise<object> {
  const { code, className, params } = draftIn(form);
  try {
    requireCode(code);
    const asked = { ...(className !== '' && { className }), params: paramsIn(params) };
    return await admin.jobs[how]({ account: viewer.accountId, code, ...asked });
  } catch (error) {
    if (!isScenepressError(error)) throw error;
    return { findings: [] };
  }
}
