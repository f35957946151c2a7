import { known, SIGNAL } from '../base/known-options.ts';
import { sentRequest } from './sent-request.ts';
import type { ApiShare, NewShareRequest, ShareChanges, SharePage, SharesQuery } from './wire.ts';

/** Sends a request to the tools API. */
type Send = (path: string, signal: AbortSignal | undefined, init?: RequestInit) => Promise<Response>;

interface Options {
  /** Aborts the request and its repetitions. */
  signal?: AbortSignal;
}

const SETTINGS = {
  ...{ jobIds: true, title: true, description: true, visibility: true, poster: true },
  ...{ allowDownload: true, expiresAt: true },
} as const;
const CHANGES = { ...SETTINGS, addJobIds: true, removeJobIds: true, moveJob: true } as const;

/**
 * Links under which others watch videos of the account.
 *
 * ```ts
 * const { url } = await client.shares.create({ jobIds: [jobId], title: 'Pythagoras' });
 * ```
 */
export class ClientShares {
  readonly #send: Send;

  /** @internal */
  constructor(send: Send) {
    this.#send = send;
  }

  /** Makes a link to the videos of completed jobs. Errors: status 404 for an unknown job, 409 for one without a video. */
  async create(share: NewShareRequest, options: Options = {}): Promise<ApiShare> {
    const { signal } = known('shares.create', options, SIGNAL);
    return this.#share('/shares', signal, sentRequest(known('shares.create', share, SETTINGS)));
  }

  /** A page of shares, newest first. */
  async list(query: SharesQuery = {}, options: Options = {}): Promise<SharePage> {
    const { signal } = known('shares.list', options, SIGNAL);
    const given = new URLSearchParams();
    const names = { jobId: true, limit: true, cursor: true } as const;
    for (const [name, value] of Object.entries(known('shares.list', query, names)))
      if (value !== undefined) given.set(name, String(value));
    return (await (await this.#send(`/shares?${given}`, signal)).json()) as SharePage;
  }

  /** Error: status 404 when there is no such share. */
  async get(shareId: string, options: Options = {}): Promise<ApiShare> {
    const { signal } = known('shares.get', options, SIGNAL);
    return this.#share(pathOf(shareId), signal);
  }

  /**
   * Changes a share; its link stays the same. Errors: status 404; 409 for one that was revoked, or that would have no video or
   * more than 100.
   */
  async update(shareId: string, changes: ShareChanges, options: Options = {}): Promise<ApiShare> {
    const { signal } = known('shares.update', options, SIGNAL);
    return this.#share(pathOf(shareId), signal, sentRequest(known('shares.update', changes, CHANGES)));
  }

  /** Ends a link at once, for good. Error: status 404 when there is no such share. */
  async revoke(shareId: string, options: Options = {}): Promise<ApiShare> {
    const { signal } = known('shares.revoke', options, SIGNAL);
    return this.#share(`${pathOf(shareId)}/revoke`, signal, { method: 'POST' });
  }

  /** Erases a share; its link is then unknown. Error: status 404 when there is no such share. */
  async remove(shareId: string, options: Options = {}): Promise<void> {
    const { signal } = known('shares.remove', options, SIGNAL);
    await this.#send(pathOf(shareId), signal, { method: 'DELETE' });
  }

  async #share(path: string, signal: AbortSignal | undefined, init?: RequestInit): Promise<ApiShare> {
    return (await (await this.#send(path, signal, init)).json()) as ApiShare;
  }
}

function pathOf(shareId: string): string {
  return `/shares/${encodeURIComponent(shareId)}`;
}
