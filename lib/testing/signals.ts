import assert from 'node:assert/strict';
import { systemClock, turn } from '../clock.ts';
import type { Signal, Signals } from '../signals/signals.ts';
import { type Behaviour, behaviours, type Opened } from './suite.ts';

const WAIT_MS = 5_000;

/** Behaviors of {@link Signals}. `open` returns new ones without other senders or subscribers. */
export function signalsSuite(open: () => Promise<Opened<Signals>>): Behaviour[] {
  return behaviours(open, {
    async 'notifies all subscribers, those of the sender too'(signals) {
      const subscribers = [subscribe(signals), subscribe(signals)];
      const canceled: Signal = { kind: 'canceled', jobId: '1' };
      await until(subscribers, () => signals.publish(canceled), 1);
      for (const { received } of subscribers) assert.deepEqual(received.at(-1), canceled);
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
