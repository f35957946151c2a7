import type { Quality } from '../../../lib/index.ts';
import { isScenepressError, QUALITIES } from '../../../lib/internal.ts';
import { httpErrorOf } from '../../http/http-errors.ts';
import { EXAMPLES } from '../assets/examples.ts';
import type { Html } from '../html.ts';
import type { Route, Visit } from '../route.ts';
import {
  type Draft,
  draftIn,
  MOST_FORM_BYTES,
  onceFor,
  renderInstead,
  requestOf,
  shownBefore,
} from './playground-form.ts';
import { FILES_ROUTE } from './playground-parts.ts';
import { playgroundScriptRoutes } from './playground-script.ts';
import { playground, type Shown } from './playground-view.ts';

/** An editor whose scenes can be rendered. */
export function playgroundRoutes(): Route[] {
  return [
    { method: 'GET', path: '/playground', for: 'members', handler: openPage },
    FILES_ROUTE,
    { method: 'POST', path: '/playground', for: 'members', mostBytes: MOST_FORM_BYTES, handler: render },
    ...playgroundScriptRoutes(),
    {
      method: 'POST',
      path: '/playground/inspect',
      for: 'members',
      mostBytes: MOST_FORM_BYTES,
      handler: inspect,
    },
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
  if (jobId !== undefined) {
    const job = await admin.jobs.showDetails({ jobId });
    const last = await shownBefore(visit, query['last']);
    const { className, quality, aspectRatio, fps } = job;
    const fpsOf = fps === QUALITIES[quality as Quality].fps ? '' : String(fps);
    const code = job.code ?? '';
    const params = job.params === null ? '' : JSON.stringify(job.params);
    return playground(
      visit,
      { code, className, scenes: [className], quality, aspectRatio, fps: fpsOf, params },
      { job, last },
    );
  }
  const example = EXAMPLES.find(({ name }) => name === query['example']) ?? EXAMPLES[0];
  const { code, className, aspectRatio } = example;
  return playground(visit, {
    code,
    className,
    scenes: [className],
    quality: 'low',
    aspectRatio,
    fps: '',
    params: '',
  });
}

async function render(visit: Visit) {
  const { form, viewer } = visit;
  const draft = draftIn(form);
  const [job, last] = await Promise.all([shownBefore(visit, form['job']), shownBefore(visit, form['last'])]);
  try {
    const request = await requestOf(visit, draft);
    const idempotencyKey = form['once'] && onceFor(form['once'], request);
    const jobId = await renderInstead(visit, job, {
      account: viewer.accountId,
      ...request,
      ...(idempotencyKey && { idempotencyKey }),
    });
    const good = job?.status === 'completed' ? job : last;
    return { to: `/playground?${new URLSearchParams({ job: jobId, ...(good && { last: good.jobId }) })}` };
  } catch (error) {
    return refused(visit, draft, error, { job, last });
  }
}

async function inspect(visit: Visit) {
  const { admin, form, viewer } = visit;
  const draft = draftIn(form);
  const [job, last] = await Promise.all([shownBefore(visit, form['job']), shownBefore(visit, form['last'])]);
  try {
    const request = await requestOf(visit, draft);
    const inspected = await admin.jobs.inspect({ account: viewer.accountId, ...request });
    return playground(visit, draft, { job, last, inspected });
  } catch (error) {
    return refused(visit, draft, error, { job, last });
  }
}

/** The page with why a form was refused. */
async function refused(visit: Visit, draft: Draft, error: unknown, shown: Shown) {
  if (!isScenepressError(error)) throw error;
  const { status, body } = httpErrorOf(error);
  const problem = body.message ?? body.error;
  return { page: await playground(visit, draft, { ...shown, problem }), status };
}
