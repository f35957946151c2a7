import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { render, startService } from '../../fixtures/renders.ts';

const WORKERS = 6;

t.test('workers that start and test their sandboxes concurrently do not interfere', async (t) => {
  const problems: object[] = [];
  const note = (details: object, message: string) => {
    // A reduced sandbox is reported by each worker.
    if (!('sandbox' in details)) problems.push({ ...details, message });
  };
  const nothing = () => {};
  const logger = { debug: nothing, info: nothing, warn: note, error: note };
  const service = await startService(t, { workers: WORKERS, logger });
  t.match(await render(service, { className: 'OneFrame' }), { status: 'completed', error: null });
  while (service.status().warmWorkers < WORKERS && problems.length === 0) await delay(20);
  t.same(problems, []);
  const renders = Array.from({ length: WORKERS }, () => render(service, { className: 'OneFrame' }));
  for (const job of await Promise.all(renders)) t.match(job, { status: 'completed', error: null });
});
