import assert from 'node:assert/strict';
import { systemClock, turn } from '../clock.ts';
import type { Signal, Signals } from '../signals/signals.ts';
import { type Behaviour, behaviours, type Opened } from './suite.ts';

const WAIT_MS = 5_000;

/** Behaviors of {@link Signals}. `open` returns new ones without other senders or listeners. */
export function signalsSuite(open: () => Promise<Opened<Signals>>): Behaviour[] {
  return behaviours(open, {
    async 'tells all who listen, the teller too'(signals) {
      const heard = [hear(signals), hear(signals)];
      const canceled: Signal = { kind: 'worthless', jobId: '1' };
      await until(heard, () => signals.tell(canceled), 1);
      for (const { told } of heard) assert.deepEqual(told.at(-1), canceled);
    },

    async 'tells nothing to who doesn’t listen any more'(signals) {
      const [one, other] = [hear(signals), hear(signals)];
      await until([one, other], () => signals.tell({ kind: 'waiting' }), 1);
      one.stop();
      const before = one.told.length;
      await until([other], () => signals.tell({ kind: 'waiting' }), other.told.length + 1);
      assert.equal(one.told.length, before);
    },

    async 'counts a listener each time that it listens'(signals) {
      const told: Signal[] = [];
      const listener = (signal: Signal) => void told.push(signal);
      signals.listen(listener)();
      const stop = signals.listen(listener);
      await until([{ told, stop }], () => signals.tell({ kind: 'waiting' }), 1);
      stop();
      stop();
    },
  });
}

interface Heard {
  told: Signal[];
  stop: () => void;
}

function hear(signals: Signals): Heard {
  const told: Signal[] = [];
  return { told, stop: signals.listen((signal) => void told.push(signal)) };
}

/** Sends repeatedly, because signals may get lost. */
async function until(heard: Heard[], tell: () => void, count: number): Promise<void> {
  const endMs = systemClock.uptimeMs() + WAIT_MS;
  while (heard.some(({ told }) => told.length < count)) {
    assert.ok(systemClock.uptimeMs() < endMs, 'a signal arrives');
    tell();
    await turn();
  }
}
