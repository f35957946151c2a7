import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { EndedJob, RenderJob } from '../../../lib/client/index.ts';
import type { Certificate } from '../../../test/fixtures/certificates.ts';

const POLL_MS = 200;
const RETRY_MS = 500;
const ANSWER_MS = 30_000;

/** A customer who posts jobs, repeats what is not answered with success, and counts webhooks. */
export class Customer {
  readonly #url: string;
  readonly #key: string;
  readonly #receiver: Server;
  /** How often the webhook of a job arrived. */
  readonly deliveries: Map<string, number> = new Map();
  /** Jobs that were accepted, with their end. */
  readonly jobs: Map<string, EndedJob | undefined> = new Map();
  /** How often a `POST` was repeated. */
  repeats = 0;

  private constructor(url: string, key: string, receiver: Server) {
    this.#url = url;
    this.#key = key;
    this.#receiver = receiver;
    receiver.on('request', async (request, response) => {
      const { jobId } = JSON.parse(String(await buffer(request))) as { jobId: string };
      this.deliveries.set(jobId, (this.deliveries.get(jobId) ?? 0) + 1);
      response.end();
    });
  }

  static async open(url: string, key: string, certificate: Certificate): Promise<Customer> {
    const receiver = createServer(certificate);
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    return new Customer(url, key, receiver);
  }

  close(): void {
    this.#receiver.close();
    this.#receiver.closeAllConnections();
  }

  /** Posts a job, until it is accepted or the signal is aborted. */
  async post(code: string, signal: AbortSignal): Promise<string> {
    const { port } = this.#receiver.address() as AddressInfo;
    const webhookUrl = `https://127.0.0.1:${port}/hook`;
    const body = JSON.stringify({ className: 'Main', quality: 'low', code, webhookUrl });
    const headers = { 'idempotency-key': randomUUID() };
    for (;;) {
      const answer = await this.#ask('/api/v2/render', { method: 'POST', body, headers });
      if (answer.ok) {
        const { jobId } = answer.body as { jobId: string };
        this.jobs.set(jobId, undefined);
        return jobId;
      }
      signal.throwIfAborted();
      this.repeats += 1;
      await delay(RETRY_MS);
    }
  }

  /** Resolves when a job has one of the states. Error: the signal was aborted. */
  async has(jobId: string, states: RenderJob['status'][], signal: AbortSignal): Promise<RenderJob> {
    for (;;) {
      const { ok, body } = await this.#ask(`/api/v2/render/${jobId}`);
      const job = body as RenderJob;
      if (ok && (job.status === 'completed' || job.status === 'failed')) this.jobs.set(jobId, job);
      if (ok && states.includes(job.status)) return job;
      signal.throwIfAborted();
      await delay(POLL_MS);
    }
  }

  async ended(jobId: string, signal: AbortSignal): Promise<EndedJob> {
    return (await this.has(jobId, ['completed', 'failed'], signal)) as EndedJob;
  }

  async credits(): Promise<number> {
    const { ok, body } = await this.#ask('/api/v2/me');
    if (!ok) throw new Error(`/me was not answered: ${JSON.stringify(body)}`);
    return (body as { credits: { total: number } }).credits.total;
  }

  async #ask(path: string, init: RequestInit = {}): Promise<{ ok: boolean; body: unknown }> {
    const headers = { ...init.headers, authorization: `Bearer ${this.#key}` };
    try {
      const signal = AbortSignal.timeout(ANSWER_MS);
      const response = await fetch(`${this.#url}${path}`, { ...init, headers, signal });
      return { ok: response.ok, body: await response.json() };
    } catch (error) {
      return { ok: false, body: String(error) };
    }
  }
}
