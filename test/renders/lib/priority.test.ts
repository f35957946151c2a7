import { getPriority } from 'node:os';
import t from 'tap';
import { processesBelow } from '../../fixtures/processes.ts';
import { drawing, ENDLESS, startService } from '../../fixtures/renders.ts';

t.test('renders leave the processor to the service when both want it', async (t) => {
  const service = await startService(t, { workers: 1 });
  const { jobId } = await drawing(service, { code: ENDLESS });
  const ours = getPriority(process.pid);
  const renderers = processesBelow(process.pid).map(({ pid }) => getPriority(pid));
  t.ok(renderers.length >= 2, 'the zygote and the job');
  t.same([...new Set(renderers)], [Math.max(ours, 5)]);
  await service.cancel(jobId);
});
