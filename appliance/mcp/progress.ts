import type { ServerContext } from '@modelcontextprotocol/server';
import type { RenderProgress } from '../../lib/index.ts';
import { progressText } from './texts.ts';

/** No notifications follow each other faster. */
const SHORTEST_MS = 500;
/** Notifications while nothing changes, so that clients do not give up. */
const REPEATED_MS = 5_000;

/** Tells the client of a call how far a render is, if it has asked for that. */
export class ProgressReports {
  readonly #request: ServerContext['mcpReq'];
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout | undefined;
  #text = 'Waiting for a worker';
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor({ mcpReq }: ServerContext) {
    this.#request = mcpReq;
    if (mcpReq._meta?.progressToken === undefined) return;
    this.#timer = setInterval(() => this.#tell(), REPEATED_MS);
  }

  readonly show = (progress: RenderProgress): void => {
    this.#text = progressText(progress);
    if (performance.now() - this.#toldAt >= SHORTEST_MS) this.#tell();
  };

  stop(): void {
    clearInterval(this.#timer);
  }

  /** The progress is the time: it must increase, and the length of a scene is not known before it ends. */
  #tell(): void {
    const progressToken = this.#request._meta?.progressToken;
    if (progressToken === undefined) return;
    this.#toldAt = performance.now();
    const progress = Math.round(this.#toldAt - this.#startedAt) / 1000;
    const params = { progressToken, progress, message: this.#text };
    // The client has left: its signal ends the call.
    this.#request.notify({ method: 'notifications/progress', params }).catch(() => {});
  }
}
