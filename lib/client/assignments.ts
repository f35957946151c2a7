import { known, SIGNAL } from '../base/known-options.ts';
import { sentRequest } from './sent-request.ts';
import type { ApiAssignment, AssignmentPage, AssignmentSettings, AssignmentsQuery } from './wire.ts';

/** Sends a request to the tools API. */
type Send = (path: string, signal: AbortSignal | undefined, init?: RequestInit) => Promise<Response>;

interface Options {
  /** Aborts the request and its repetitions. */
  signal?: AbortSignal;
}

const SETTINGS = {
  ...{ sceneId: true, title: true, instructions: true, className: true, code: true, settings: true },
  ...{ classLinkId: true, expiresAt: true },
} as const;

/**
 * Links under which others get code as a scene of their own.
 *
 * ```ts
 * const { url } = await client.assignments.create({ sceneId, instructions: 'Change the colour.' });
 * ```
 */
export class ClientAssignments {
  readonly #send: Send;

  /** @internal */
  constructor(send: Send) {
    this.#send = send;
  }

  /** Makes a link to the current draft of a scene, or to code. Error: status 404 for an unknown scene or class link. */
  async create(assignment: AssignmentSettings, options: Options = {}): Promise<ApiAssignment> {
    const { signal } = known('assignments.create', options, SIGNAL);
    const given = known('assignments.create', assignment, SETTINGS);
    return this.#assignment('/assignments', signal, sentRequest(given));
  }

  /** A page of assignments, newest first. */
  async list(query: AssignmentsQuery = {}, options: Options = {}): Promise<AssignmentPage> {
    const { signal } = known('assignments.list', options, SIGNAL);
    const given = new URLSearchParams();
    const names = { limit: true, cursor: true } as const;
    for (const [name, value] of Object.entries(known('assignments.list', query, names)))
      if (value !== undefined) given.set(name, String(value));
    return (await (await this.#send(`/assignments?${given}`, signal)).json()) as AssignmentPage;
  }

  /** Error: status 404 when there is no such assignment. */
  async get(assignmentId: string, options: Options = {}): Promise<ApiAssignment> {
    const { signal } = known('assignments.get', options, SIGNAL);
    return this.#assignment(pathOf(assignmentId), signal);
  }

  /** Ends a link at once, for good; copies stay. Error: status 404 when there is no such assignment. */
  async revoke(assignmentId: string, options: Options = {}): Promise<ApiAssignment> {
    const { signal } = known('assignments.revoke', options, SIGNAL);
    return this.#assignment(`${pathOf(assignmentId)}/revoke`, signal, { method: 'POST' });
  }

  /** Erases an assignment; copies stay. Error: status 404 when there is no such assignment. */
  async remove(assignmentId: string, options: Options = {}): Promise<void> {
    const { signal } = known('assignments.remove', options, SIGNAL);
    await this.#send(pathOf(assignmentId), signal, { method: 'DELETE' });
  }

  async #assignment(
    path: string,
    signal: AbortSignal | undefined,
    init?: RequestInit,
  ): Promise<ApiAssignment> {
    return (await (await this.#send(path, signal, init)).json()) as ApiAssignment;
  }
}

function pathOf(assignmentId: string): string {
  return `/assignments/${encodeURIComponent(assignmentId)}`;
}
