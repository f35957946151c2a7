import assert from 'node:assert/strict';
import type { Signal, Signals } from '../storage/signals.ts';
import { systemClock, turn } from '../time/clock.ts';
import { type Behaviour, behaviours, type Opened, type SuiteOptions } from './suite.ts';

const WAIT_MS = 5_000;

/**
 * Behaviors of {@link Signals}. `open` returns new ones without other senders or subscribers.
 *
 * ```ts
 * const open = async () => ({ subject: new MySignals(), close: async () => {} });
 * for (const { title, run } of signalsSuite(open)) test(title, run);
 * ```
 */
export function signalsSuite(open: () => Promise<Opened<Signals>>, options: SuiteOptions = {}): Behaviour[] {
  const suite = { name: 'signalsSuite', open, options };
  return behaviours(suite, {
    async 'notifies all subscribers, those of the sender too'(signals) {
      const subscribers = [subscribe(signals), subscribe(signals)];
      const canceled: Signal = { kind: 'canceled', jobId: '1' };
      await until(subscribers, () => signals.publish(canceled), 1);
      for (const { received } of subscribers) assert.deepEqual(received.at(-1), canceled);
    },

    async 'delivers all kinds whole, also large ones'(signals) {
      const subscriber = subscribe(signals);
      const changed = { owner: 'Zoë 😀', attempts: 1, durationMs: 5, completedAtMs: 6 };
      const all: Signal[] = [
        { kind: 'due' },
        { kind: 'settings' },
        { kind: 'canceled', jobId: '1' },
        {
          kind: 'changed',
          from: 'p',
          jobs: [{ ...changed, jobId: '1', phase: 'failed', failedBy: 'scene' }],
        },
        {
          kind: 'watched',
          from: 'p',
          jobIds: Array.from({ length: 100 }, (_, i) => `${'j'.repeat(48)}${i}`),
        },
        {
          kind: 'progress',
          from: 'p',
          jobId: '1',
          progress: { stage: 'rendering', frames: 2, seconds: 0.5 },
        },
        { kind: 'preview', from: 'p', jobId: '1', jpeg: 'AbC/'.repeat(20_000) },
      ];
      for (const signal of all) {
        subscriber.received.length = 0;
        await until([subscriber], () => signals.publish(signal), 1);
        assert.deepEqual(subscriber.received[0], signal);
      }
    },

    async 'notifies no subscriber that has unsubscribed'(signals) {
      const [one, other] = [subscribe(signals), subscribe(signals)];
      await until([one, other], () => signals.publish({ kind: 'waiting' }), 1);
      one.stop();
      const before = one.received.length;
      await until([other], () => signals.publish({ kind: 'waiting' }), other.received.length + 1);
      assert.equal(one.received.length, before);
    },

    async 'keeps subscriptions of the same listener apart'(signals) {
      const received: Signal[] = [];
      const listener = (signal: Signal) => void received.push(signal);
      signals.subscribe(listener)();
      const stop = signals.subscribe(listener);
      await until([{ received, stop }], () => signals.publish({ kind: 'waiting' }), 1);
      stop();
      stop();
    },
  });
}

interface Subscriber {
  received: Signal[];
  stop: () => void;
}

function subscribe(signals: Signals): Subscriber {
  const received: Signal[] = [];
  return { received, stop: signals.subscribe((signal) => void received.push(signal)) };
}

/** Sends repeatedly, because signals may get lost. */
async function until(subscribers: Subscriber[], publish: () => void, count: number): Promise<void> {
  const endMs = systemClock.uptimeMs() + WAIT_MS;
  while (subscribers.some(({ received }) => received.length < count)) {
    assert.ok(systemClock.uptimeMs() < endMs, 'a signal arrives');
    publish();
    await turn();
  }
}
