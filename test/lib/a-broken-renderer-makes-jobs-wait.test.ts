import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { instantService } from '../fixtures/instant-service.ts';

const MINUTE_MS = 60_000;
const STEP_MS = 10;
const REQUEST = { owner: 'ada', code: 'class Main(Scene): pass', className: 'Main' };

t.test('a renderer that no longer renders is detected while idle, and jobs wait for it', async (t) => {
  const clock = new FakeClock('2026-11-21T09:00:00Z');
  const service = await instantService(t, { clock });
  const broken = join(t.testdirName, 'work/w0/broken');
  /** The service's clock runs faster than the system's. */
  const until = async (ready: boolean) => {
    while (service.status().ready !== ready) {
      clock.advance(1_000);
      await delay(STEP_MS);
    }
  };
  writeFileSync(broken, '');
  clock.postpone(9 * MINUTE_MS); // No checks in between, which would need real time.
  clock.advance(9 * MINUTE_MS);
  t.equal(service.status().ready, true, 'a video proves for ten minutes that the renderer works');
  await until(false);
  const { problems, warmWorkers } = service.status();
  t.match(problems, [{ part: 'renderer', message: /could not be rendered.*log.*doctor/s }]);
  t.notMatch(problems[0]?.message, /\/|py/, 'the message contains no details of the machine');
  t.equal(warmWorkers, 1, 'the process itself is running');

  const waiting = await service.enqueue(REQUEST);
  while (service.status().queued === 0) await delay(STEP_MS);
  t.match(await service.get(waiting.jobId), { status: 'queued', attempts: 0 });
  t.match(service.status(), { ready: false, running: 0 });
  rmSync(broken);
  await until(true);
  t.match(await service.wait(waiting.jobId), { status: 'completed', attempts: 1 });
});
