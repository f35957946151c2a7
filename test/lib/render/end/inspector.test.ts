import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import type { ZygoteReady } from '../../../../lib/model/renderer-messages.ts';
import { Inspector } from '../../../../lib/render/end/inspector.ts';
import type { Zygote } from '../../../../lib/render/start/zygote.ts';

/** Stops after a delay and then reports its death, as a zygote does. */
class Process extends EventEmitter<{ death: [reason: string] }> {
  running = true;

  async stop(): Promise<void> {
    await delay(20);
    this.running = false;
    this.emit('death', 'it ended');
  }
}

t.test('an inspector started while another stops is kept and stopped later', async (t) => {
  const processes: Process[] = [];
  const deaths: string[] = [];
  const inspector = new Inspector({
    start: async () => {
      const process = new Process();
      processes.push(process);
      return [process as unknown as Zygote, {} as ZygoteReady];
    },
    onWarm: () => {},
    onDeath: (reason) => deaths.push(reason),
  });
  await inspector.ready();
  const stopped = inspector.stop();
  const second = await inspector.ready();
  await stopped;
  t.equal(inspector.alive, true);
  t.equal(await inspector.ready(), second);
  t.same(deaths, []);
  await inspector.stop();
  t.equal(inspector.alive, false);
  t.same(
    processes.map(({ running }) => running),
    [false, false],
  );
});
