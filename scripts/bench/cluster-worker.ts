// A worker process of the benchmark `cluster`: `cluster-worker.ts KIND PLACE SLOTS RENDER_MS`. Reports when it is ready,
// at each request works until no job waits and reports how many it has done, and ends when its parent disconnects. With
// the kind `hold` or `hold-pg-boss` it takes a job and keeps it.
import { setTimeout as delay } from 'node:timers/promises';
import {
  bossQueue,
  HELD,
  MOST_FREQUENT_CHECKS,
  openBoss,
  openOurs,
  type WorkQueue,
} from './cluster-queues.ts';

const [, , kind = '', place = '', slots = '', renderMs = ''] = process.argv;
process.on('disconnect', () => process.exit());
if (kind === 'hold-pg-boss') {
  const boss = await openBoss(place, MOST_FREQUENT_CHECKS);
  await boss.work(HELD, { pollingIntervalSeconds: 0.5 }, () => {
    process.send?.('held');
    return new Promise(() => {});
  });
} else {
  const queue = kind === 'pg-boss' ? bossQueue(await openBoss(place)) : (await openOurs(place)).queue;
  if (kind === 'hold') {
    await queue.take(() => 1);
    process.send?.('held');
  } else {
    process.send?.('ready');
    process.on('message', async () => process.send?.(await drain(queue, Number(slots), Number(renderMs))));
  }
}

/** Does all waiting jobs; returns their number. */
async function drain(queue: WorkQueue, slots: number, renderMs: number): Promise<number> {
  const running = new Set<Promise<unknown>>();
  let done = 0;
  for (;;) {
    while (running.size >= slots) await Promise.race(running);
    const ends = await queue.take(() => slots - running.size);
    if (ends.length === 0 && running.size === 0) return done;
    for (const end of ends) {
      const one = (renderMs > 0 ? delay(renderMs) : Promise.resolve()).then(end).finally(() => {
        done += 1;
        running.delete(one);
      });
      running.add(one);
    }
    if (ends.length === 0) await Promise.race(running);
  }
}
