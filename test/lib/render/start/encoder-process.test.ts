import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import type { ZygoteReady } from '../../../../lib/model/zygote-messages.ts';
import { EncoderProcess } from '../../../../lib/render/start/encoder-process.ts';
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

t.test('an encoder started while another stops is kept and stopped later', async (t) => {
  const processes: Process[] = [];
  const deaths: string[] = [];
  const encoder = new EncoderProcess({
    start: async () => {
      const process = new Process();
      processes.push(process);
      return [process as unknown as Zygote, {} as ZygoteReady];
    },
    onWarm: () => {},
    onDeath: (reason) => deaths.push(reason),
  });
  await encoder.ready();
  const stopped = encoder.stop();
  const second = await encoder.ready();
  await stopped;
  t.equal(encoder.alive, true);
  t.equal(await encoder.ready(), second);
  t.same(deaths, []);
  await encoder.stop();
  t.equal(encoder.alive, false);
  t.same(
    processes.map(({ running }) => running),
    [false, false],
  );
});
