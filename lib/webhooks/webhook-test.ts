import { ScenepressError } from '../base/errors.ts';
import { known, SIGNAL } from '../base/known-options.ts';
import { CONTRACT_ARTIFACTS } from '../model/artifacts.ts';
import type { SortableIds } from '../model/ids.ts';
import { assetKeyOf } from '../model/job.ts';
import { type ArtifactLinks, type JobContent, jobJson } from '../model/job-json.ts';
import { isWebhookUrl } from '../model/render-request.ts';
import type { FailureReason } from '../storage/delivery.ts';
import { type Clock, isoTime } from '../time/clock.ts';
import type { OutboundRequest, Sends } from './outbound.ts';
import { signWebhook, verifyWebhook, type WebhookVerdict } from './signature.ts';

/** A test event to send. */
export interface WebhookTestRequest {
  /** An owner can run one test at a time. */
  owner: string;
  /** Where it is sent: `https://…`. */
  url: string;
  /** Signs it. */
  secret: string;
}

/** A test event as it was sent, with the steps of its verification (contract §6.3) and the answer. */
export interface WebhookTest {
  /** Where it was sent. */
  url: string;
  /** The headers of the request. */
  headers: Record<string, string>;
  /** The body of the request. */
  body: string;
  /** What a receiver computes. */
  verification: {
    /** The members `t` and `v1` of `svc-signature`. */
    timestamp: string;
    signature: string;
    /** The HMAC-SHA256 of `<t>.<body>` with the secret, in hexadecimal, computed again. */
    computed: string;
    verdict: WebhookVerdict;
  };
  /** The HTTP code, or 0. */
  status: number;
  /** Why it failed; null when it was accepted. */
  reason: FailureReason | null;
  /** For the operator only: it may reveal details of the internal network. */
  detail: string | null;
  /** The first 1 KB of the response body; null without a response. */
  answer: string | null;
  /** Milliseconds until the answer or the failure. */
  tookMs: number;
}

const MOST_AT_ONCE = 16;

/** Sends test events, with the protections of deliveries. They are not recorded. */
export class WebhookTests {
  readonly #outbound: () => Sends;
  readonly #clock: Clock;
  readonly #ids: SortableIds;
  readonly #links: () => ArtifactLinks;
  readonly #owners = new Set<string>();

  constructor(options: {
    outbound: () => Sends;
    clock: Clock;
    ids: SortableIds;
    links: () => ArtifactLinks;
  }) {
    this.#outbound = options.outbound;
    this.#clock = options.clock;
    this.#ids = options.ids;
    this.#links = options.links;
  }

  /** Errors: `invalid_request` for another URL than a webhook's; `conflict` while a test of the owner is running. */
  async send(request: WebhookTestRequest, options: { signal?: AbortSignal } = {}): Promise<WebhookTest> {
    const { owner, url, secret } = known('sendTest', request, { owner: true, url: true, secret: true });
    const { signal } = known('sendTest', options, SIGNAL);
    signal?.throwIfAborted();
    if (!isWebhookUrl(url)) {
      const message = 'The webhook URL must be an https:// URL without user name and password.';
      throw new ScenepressError('invalid_request', message);
    }
    if (this.#owners.has(owner) || this.#owners.size >= MOST_AT_ONCE) {
      throw new ScenepressError('conflict', 'A test event is being sent. Wait for its result.');
    }
    this.#owners.add(owner);
    try {
      return await this.#send({ url, secret }, signal ?? new AbortController().signal);
    } finally {
      this.#owners.delete(owner);
    }
  }

  async #send({ url, secret }: { url: string; secret: string }, signal: AbortSignal): Promise<WebhookTest> {
    const body = jobJson(sampleJob(this.#ids.next(), this.#clock.now()), this.#links());
    const headers = {
      'content-type': 'application/json',
      'svc-event': 'completed',
      'svc-signature': signWebhook(body, secret, { now: this.#clock.now() }),
      'svc-test': 'true',
      'user-agent': 'scenepress',
    };
    const verification = verified(body, headers['svc-signature'], secret, this.#clock.now());
    const request: OutboundRequest = { url, headers, body: Buffer.from(body) };
    const startedMs = this.#clock.uptimeMs();
    const { status, reason, detail, answer } = await this.#outbound().post(request, signal);
    signal.throwIfAborted();
    const tookMs = Math.round(this.#clock.uptimeMs() - startedMs);
    return { url, headers, body, verification, status, reason, detail, answer, tookMs };
  }
}

/** Checks of a receiver, from the header on. */
function verified(body: string, header: string, secret: string, now: number): WebhookTest['verification'] {
  const [timestamp = '', signature = ''] = header
    .split(',')
    .map((member) => member.slice(member.indexOf('=') + 1));
  const again = signWebhook(body, secret, { now: Number(timestamp) * 1000 });
  const computed = again.slice(again.indexOf('v1=') + 3);
  return { timestamp, signature, computed, verdict: verifyWebhook(body, header, secret, { now }) };
}

/** A job that does not exist, with links to all artifacts of the contract. */
function sampleJob(jobId: string, nowMs: number): JobContent {
  const artifacts = CONTRACT_ARTIFACTS.map((name) => ({
    name,
    assetKey: assetKeyOf({ jobId, token: 1 }, name),
    sizeBytes: 0,
  }));
  return {
    jobId,
    owner: '',
    status: 'completed',
    metadataJson: '{"test":true}',
    creditsCost: 0,
    durationMs: 0,
    artifacts,
    error: null,
    createdAt: isoTime(nowMs),
    completedAt: isoTime(nowMs),
  };
}
