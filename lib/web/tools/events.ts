import type { JobEvent } from '../../jobs/watch/job-followers.ts';
import type { Job } from '../../model/job.ts';
import { changesOf } from './owner-changes.ts';
import { TOOLS_PATH, type ToolCall, type ToolRoute } from './route.ts';
import { eventsAnswer, oneLine, type SentEvent } from './sent-events.ts';
import { toolErrors } from './tool-errors.ts';
import { toolJobJson } from './tool-job.ts';

/** Clocks of machines differ, and an event may be sent later than the change. */
const TOLERANCE_MS = 10_000;
/** The jobs that are looked through after a lost connection. */
const MOST_REPLAYED = 500;
const LAST_EVENT_ID = {
  'Last-Event-ID': { type: 'string', description: 'The `id` of the last event that was received.' },
};
const STREAM = { 200: { description: 'Server-sent events.', media: ['text/event-stream'] } };

/** Server-sent events. */
export const EVENT_ROUTES: readonly ToolRoute[] = [
  {
    method: 'GET',
    path: `${TOOLS_PATH}/jobs/{jobId}/events`,
    operationId: 'followJob',
    summary: 'Follow a job',
    description:
      'Server-sent events until the job ends: `job` with the job as it is and after each change, `progress` with ' +
      '`{ stage, frames, seconds }`, `preview` with a JPEG in base64.',
    tag: 'Jobs',
    scopes: ['read', 'render'],
    params: { jobId: 'The id of the job.' },
    headers: LAST_EVENT_ID,
    responses: { ...STREAM, ...toolErrors(401, 403, 404, 429, 503) },
    answer: followJob,
  },
  {
    method: 'GET',
    path: `${TOOLS_PATH}/events`,
    operationId: 'followJobs',
    summary: 'Follow all jobs of the account',
    description:
      'Server-sent events `job` after each change of a job. After a lost connection, jobs that have changed meanwhile are ' +
      'sent as they are, maybe once more; `gap` says that changes may have been lost, so that jobs must be listed.',
    tag: 'Jobs',
    scopes: ['read'],
    headers: LAST_EVENT_ID,
    responses: { ...STREAM, ...toolErrors(400, 401, 403, 429) },
    answer: followJobs,
  },
];

async function followJob(call: ToolCall): Promise<Response> {
  const { service, caller, params, headers, streams, clock } = call;
  const { owner } = caller;
  const { signal, close } = openStream(call);
  const following = service.follow(params['jobId'] ?? '', { owner, signal });
  const giveBack = streams.take(owner);
  const end = () => {
    giveBack();
    close();
    // Aborting its signal does not end a generator that waits for its consumer.
    void following.return().catch(() => {});
  };
  try {
    const { value: first } = await following.next();
    const events = sentEventsOf(first ?? undefined, following, call, headers.get('last-event-id'));
    return eventsAnswer(events, { close: end, clock });
  } catch (error) {
    end();
    throw error;
  }
}

async function* sentEventsOf(
  first: JobEvent | undefined,
  following: AsyncGenerator<JobEvent, void>,
  { links }: ToolCall,
  lastId: string | null,
): AsyncGenerator<SentEvent, void> {
  try {
    let event = first;
    // What the client has seen already is not sent again, unless nothing follows.
    if (event?.type === 'job' && idOf(event.job) === lastId && event.job.completedAt === null)
      event = (await following.next()).value ?? undefined;
    for (; event; event = (await following.next()).value ?? undefined) {
      if (event.type === 'job')
        yield { id: idOf(event.job), event: 'job', data: oneLine(toolJobJson(event.job, links)) };
      else if (event.type === 'progress') yield { event: 'progress', data: JSON.stringify(event.progress) };
      else yield { event: 'preview', data: Buffer.from(event.jpeg).toString('base64') };
    }
  } finally {
    await following.return();
  }
}

/** Differs after each change of a job. */
function idOf({ status, attempts }: Job): string {
  return `${status}-${attempts}`;
}

async function followJobs(call: ToolCall): Promise<Response> {
  const { caller, streams, clock, headers } = call;
  const giveBack = streams.take(caller.owner);
  const { signal, close } = openStream(call);
  const end = () => {
    giveBack();
    close();
  };
  const { stopping } = call;
  const ended = stopping ? AbortSignal.any([signal, stopping]) : signal;
  return eventsAnswer(changes(call, ended, Number(headers.get('last-event-id') ?? Number.NaN)), {
    close: end,
    clock,
  });
}

async function* changes(
  { service, caller: { owner }, links, clock }: ToolCall,
  signal: AbortSignal,
  lastMs: number,
): AsyncGenerator<SentEvent, void> {
  const following = changesOf(service, owner, signal);
  const sent = (job: Job): SentEvent => ({
    id: String(clock.now()),
    event: 'job',
    data: oneLine(toolJobJson(job, links)),
  });
  // Follows before it looks, so that nothing falls between.
  let next = following.next();
  try {
    if (Number.isFinite(lastMs)) {
      const sinceMs = lastMs - TOLERANCE_MS;
      const jobs = await service.list({ owner, limit: MOST_REPLAYED });
      // Earlier jobs may have ended meanwhile, too.
      if (jobs.length === MOST_REPLAYED) yield { event: 'gap', data: '{}' };
      for (const job of jobs.reverse()) if (changedAt(job) >= sinceMs) yield sent(job);
    } else {
      // A place to continue from, also if nothing happens.
      yield { id: String(clock.now()), event: 'open', data: '{}' };
    }
    for (;;) {
      const { value: change } = await next;
      if (!change) return;
      yield change === 'gap' ? { event: 'gap', data: '{}' } : sent(change);
      next = following.next();
    }
  } finally {
    await following.return();
  }
}

function changedAt({ createdAt, startedAt, completedAt }: Job): number {
  return Date.parse(completedAt ?? startedAt ?? createdAt);
}

/** Ends when the client has left or the response has been closed. */
function openStream({ signal }: ToolCall): { signal: AbortSignal; close: () => void } {
  const closed = new AbortController();
  return { signal: AbortSignal.any([signal, closed.signal]), close: () => closed.abort() };
}
