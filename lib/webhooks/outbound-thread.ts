import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Logger } from '../base/logger.ts';
import { Backoff } from '../time/backoff.ts';
import type { Clock, Timer } from '../time/clock.ts';
import type { ExchangeResult, OutboundOptions, OutboundRequest, Sends } from './outbound.ts';
import type { Resolve } from './resolver.ts';
import type { FromThread, SendingThreadData, ToThread } from './sending-thread.ts';

// TypeScript when running from source.
const THREAD_FILE = new URL(
  import.meta.url.endsWith('.ts') ? './sending-thread.ts' : './sending-thread.js',
  import.meta.url,
);
const PING_MS = 1_000;
/** Unanswered pings after which a thread counts as hung; a starting thread gets more time. */
const MOST_UNANSWERED = 5;
const MOST_UNANSWERED_AT_START = 30;
const RESTART_FIRST_MS = 500;
const RESTART_LONGEST_MS = 30_000;
/** The deadline for a request to end after it was aborted. */
const ABORT_GRACE_MS = 2_000;
/** More than it needs; when exceeded, the thread crashes instead of the service. */
const MOST_HEAP_MB = 512;

interface UnderWay {
  request: OutboundRequest;
  end: (result: ExchangeResult) => void;
}

/**
 * Sends requests in a separate thread: a receiver that floods it with bytes, headers or handshakes cannot block the
 * event loop of the service. A thread that dies or hangs is replaced, and its requests end as `interrupted`, because
 * the receiver may have seen them. Signing, and a custom `resolve`, stay in the main thread. The thread starts with
 * the first request.
 */
export class OutboundThread implements Sends {
  readonly #data: SendingThreadData;
  readonly #resolve: Resolve | undefined;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #file: URL;
  readonly #underWay = new Map<number, UnderWay>();
  readonly #lookups = new Map<number, AbortController>();
  #worker: Worker | undefined;
  #isReady = false;
  #unanswered = 0;
  #ping: Timer | undefined;
  #restart: Timer | undefined;
  readonly #backoff = new Backoff(RESTART_FIRST_MS, RESTART_LONGEST_MS);
  #lastId = 0;

  /** `file`: the script of the thread, for tests. */
  constructor({
    options: { allowNetworks = [], ca = [], resolve, timeoutMs },
    clock,
    logger,
    file = THREAD_FILE,
  }: {
    options: OutboundOptions;
    clock: Clock;
    logger: Logger;
    file?: URL;
  }) {
    this.#data = {
      allowNetworks: [...allowNetworks],
      ca: [ca].flat(),
      ...(timeoutMs !== undefined && { timeoutMs }),
      asksForNames: resolve !== undefined,
    };
    this.#resolve = resolve;
    this.#clock = clock;
    this.#logger = logger;
    this.#file = file;
  }

  start(): void {
    assert(!this.#ping, 'stopped');
    this.#pingLater();
  }

  /** Keeps the process alive until the stop. */
  #pingLater(): void {
    this.#ping = this.#clock.after(PING_MS, () => {
      this.#pingLater();
      this.#check();
    });
  }

  /** Ends the thread. Running requests end as `stopped`; abort them first to learn whether anything was sent. */
  async stop(): Promise<void> {
    this.#ping?.cancel();
    this.#restart?.cancel();
    this.#ping = undefined;
    this.#restart = undefined;
    const worker = this.#worker;
    this.#letGo();
    for (const id of [...this.#underWay.keys()]) this.#end(id, stopped({ sent: true }));
    await worker?.terminate();
  }

  /** After {@link start}. Never rejects; `signal` aborts the exchange. */
  async post(request: OutboundRequest, signal: AbortSignal): Promise<ExchangeResult> {
    assert(this.#ping, 'started');
    if (signal.aborted) return stopped({ sent: false });
    this.#lastId += 1;
    const id = this.#lastId;
    const { promise, resolve } = Promise.withResolvers<ExchangeResult>();
    this.#underWay.set(id, { request, end: resolve });
    let late: Timer | undefined;
    const abort = () => {
      if (!this.#isReady) return this.#end(id, stopped({ sent: false }));
      this.#tell({ type: 'abort', id });
      late = this.#clock.after(ABORT_GRACE_MS, () => this.#end(id, stopped({ sent: true })));
    };
    signal.addEventListener('abort', abort, { once: true });
    if (this.#isReady) this.#tell({ type: 'post', id, request });
    else if (!this.#worker && !this.#restart) this.#startThread();
    const result = await promise;
    late?.cancel();
    signal.removeEventListener('abort', abort);
    return result;
  }

  #startThread(): void {
    let worker: Worker;
    try {
      worker = this.#newWorker();
    } catch (error) {
      this.#logger.error({ err: error }, 'Starting the webhook thread failed; retrying.');
      this.#startLater();
      return;
    }
    this.#worker = worker;
    this.#unanswered = 0;
    let problem: unknown;
    worker.on('message', (message: FromThread) => {
      if (worker === this.#worker) this.#hear(message);
    });
    worker.on('error', (error) => {
      problem = error;
    });
    worker.once('exit', (exitCode) => {
      if (worker === this.#worker) this.#replace({ err: problem, exitCode }, 'ended');
    });
  }

  #newWorker(): Worker {
    // A path, because the packed executable resolves its embedded files only by path.
    return new Worker(fileURLToPath(this.#file), {
      name: 'webhooks',
      workerData: this.#data,
      resourceLimits: { maxOldGenerationSizeMb: MOST_HEAP_MB },
    });
  }

  #hear(message: FromThread): void {
    switch (message.type) {
      case 'ready':
        this.#isReady = true;
        // Pings during a slow start are answered next.
        this.#unanswered = 0;
        this.#backoff.reset();
        for (const [id, { request }] of this.#underWay) this.#tell({ type: 'post', id, request });
        break;
      case 'ended':
        this.#end(message.id, message.result);
        break;
      case 'look up':
        void this.#lookUp(message.lookup, message.name);
        break;
      case 'give up':
        this.#lookups.get(message.lookup)?.abort();
        break;
      case 'pong':
        this.#unanswered = 0;
    }
  }

  /** Counts pings instead of time: when this event loop is late, so are the answers. */
  #check(): void {
    if (!this.#worker) return;
    const most = this.#isReady ? MOST_UNANSWERED : MOST_UNANSWERED_AT_START;
    if (this.#unanswered >= most) {
      this.#replace({ unanswered: this.#unanswered }, 'is unresponsive');
      return;
    }
    this.#unanswered += 1;
    this.#tell({ type: 'ping' });
  }

  #replace(details: object, what: 'ended' | 'is unresponsive'): void {
    const { size } = this.#underWay;
    this.#logger.error({ ...details, underWay: size }, `The webhook thread ${what}; replacing it.`);
    const worker = this.#worker;
    const wasReady = this.#isReady;
    this.#letGo();
    void worker?.terminate();
    if (wasReady) {
      for (const id of [...this.#underWay.keys()]) this.#end(id, interrupted(what));
      return;
    }
    this.#startLater();
  }

  /** A thread that never started sent nothing; its requests go to the next one. */
  #startLater(): void {
    this.#restart = this.#clock.after(this.#backoff.next(), () => {
      this.#restart = undefined;
      if (this.#underWay.size > 0) this.#startThread();
    });
  }

  #letGo(): void {
    this.#worker = undefined;
    this.#isReady = false;
    for (const lookup of this.#lookups.values()) lookup.abort();
    this.#lookups.clear();
  }

  #end(id: number, result: ExchangeResult): void {
    const underWay = this.#underWay.get(id);
    this.#underWay.delete(id);
    underWay?.end(result);
  }

  async #lookUp(lookup: number, name: string): Promise<void> {
    const worker = this.#worker;
    const giveUp = new AbortController();
    this.#lookups.set(lookup, giveUp);
    let answer: ToThread;
    try {
      const addresses = await (this.#resolve as Resolve)(name, giveUp.signal);
      answer = { type: 'found', lookup, addresses };
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      answer = { type: 'not found', lookup, code, message };
    }
    if (worker !== this.#worker) return;
    this.#lookups.delete(lookup);
    this.#tell(answer);
  }

  #tell(message: ToThread): void {
    this.#worker?.postMessage(message);
  }
}

function stopped({ sent }: { sent: boolean }): ExchangeResult {
  return { status: 0, reason: 'stopped', detail: 'the service was stopped', answer: null, sent };
}

function interrupted(what: 'ended' | 'is unresponsive'): ExchangeResult {
  const detail =
    what === 'ended'
      ? 'the sender thread ended during the request'
      : 'the sender thread stopped responding during the request';
  return { status: 0, reason: 'interrupted', detail, answer: null, sent: true };
}
