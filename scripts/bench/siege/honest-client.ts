import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Certificate } from '../../../test/fixtures/certificates.ts';
import { HONEST } from './scenes.ts';

const POLL_MS = 100;
const LONGEST_WAIT_MS = 15 * 60_000;
const RETRY_MS = 1_000;

/** Measurements of the honest account. */
export interface HonestRecord {
  /** From POST to `completed`, as seen by a polling client. */
  waitsMs: number[];
  /** The part of each wait in which its scene was rendered. */
  rendersMs: number[];
  /** From `completedAt` to the arrival of the webhook. */
  webhooksMs: number[];
  /** Response times of `GET /me`. */
  readsMs: number[];
  /** Number of completely downloaded videos. */
  downloads: number;
  problems: string[];
}

/** A client that repeatedly posts a scene, polls, downloads the video and waits for the webhook. */
export class HonestClient {
  readonly #url: string;
  readonly #key: string;
  readonly #receiver: Server;
  readonly #arrivals = new Map<string, number>();

  private constructor(url: string, key: string, receiver: Server) {
    this.#url = url;
    this.#key = key;
    this.#receiver = receiver;
    receiver.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.once('end', () => {
        const { jobId } = JSON.parse(Buffer.concat(chunks).toString()) as { jobId: string };
        this.#arrivals.set(jobId, Date.now());
        response.end();
      });
    });
  }

  static async open(url: string, key: string, certificate: Certificate): Promise<HonestClient> {
    const receiver = createServer(certificate);
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    return new HonestClient(url, key, receiver);
  }

  close(): void {
    this.#receiver.close();
    this.#receiver.closeAllConnections();
  }

  /** Runs a job every `everyMs`, or when the previous one has ended, until `untilMs` (of `performance.now()`). */
  async work(everyMs: number, untilMs: number, signal: AbortSignal): Promise<HonestRecord> {
    const record: HonestRecord = {
      waitsMs: [],
      rendersMs: [],
      webhooksMs: [],
      readsMs: [],
      downloads: 0,
      problems: [],
    };
    while (performance.now() < untilMs && !signal.aborted) {
      const nextMs = performance.now() + everyMs;
      await this.#oneJob(record).catch((error: Error) => record.problems.push(describe(error)));
      await delay(Math.max(0, Math.min(nextMs, untilMs) - performance.now()), undefined, { signal }).catch(
        () => {},
      );
    }
    return record;
  }

  async #oneJob(record: HonestRecord): Promise<void> {
    const webhookUrl = `https://127.0.0.1:${(this.#receiver.address() as AddressInfo).port}/hook`;
    const startedMs = performance.now();
    const posted = await this.#ask('/api/v2/render', {
      method: 'POST',
      body: JSON.stringify({ code: HONEST, className: 'Main', quality: 'medium', webhookUrl }),
    });
    const jobId = String(posted['jobId']);
    let job = posted;
    while (job['status'] !== 'completed' && job['status'] !== 'failed') {
      if (performance.now() - startedMs > LONGEST_WAIT_MS) throw new Error(`${jobId} did not end`);
      await delay(POLL_MS);
      job = await this.#ask(`/api/v2/render/${jobId}`);
    }
    if (job['status'] === 'failed') throw new Error(`${jobId} failed: ${job['error']}`);
    record.waitsMs.push(performance.now() - startedMs);
    record.rendersMs.push(Number(job['durationMs']));
    const readMs = performance.now();
    await this.#ask('/api/v2/me');
    record.readsMs.push(performance.now() - readMs);
    const { video } = job['result'] as { video: string };
    const response = await fetch(video);
    const bytes = (await response.arrayBuffer()).byteLength;
    if (response.ok && bytes === Number(response.headers.get('content-length'))) record.downloads += 1;
    else record.problems.push(`the video of ${jobId} was answered with ${response.status}`);
    const arrivedMs = await this.#arrival(jobId);
    record.webhooksMs.push(arrivedMs - Date.parse(String(job['completedAt'])));
  }

  async #arrival(jobId: string): Promise<number> {
    const deadline = performance.now() + LONGEST_WAIT_MS;
    for (;;) {
      const arrivedMs = this.#arrivals.get(jobId);
      if (arrivedMs !== undefined) return arrivedMs;
      if (performance.now() > deadline) throw new Error(`the webhook of ${jobId} did not arrive`);
      await delay(POLL_MS);
    }
  }

  /** Retries 5xx and network errors, as the contract tells clients to; the time of retries counts. */
  async #ask(path: string, init: RequestInit = {}): Promise<Record<string, unknown>> {
    const headers = { authorization: `Bearer ${this.#key}` };
    for (let attempt = 1; ; attempt += 1) {
      const response = await fetch(`${this.#url}${path}`, { ...init, headers }).catch(
        (error: Error) => error,
      );
      if (!(response instanceof Error)) {
        const body = (await response.json()) as Record<string, unknown>;
        if (response.ok) return body;
        if (response.status < 500 || attempt === 5) {
          throw new Error(`${path} was answered with ${response.status}: ${JSON.stringify(body)}`);
        }
      } else if (attempt === 5) throw response;
      await delay(RETRY_MS);
    }
  }
}

function describe(error: Error): string {
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
