import { existsSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import t from 'tap';
import { processesBelow, zygotesBelow } from '../../fixtures/processes.ts';
import { drawing, ENDLESS, startService } from '../../fixtures/renders.ts';

const LOWEST = 19;

t.test(
  'the service goes before the renderer, which goes before the scene that it may have to end',
  async (t) => {
    const service = await startService(t, { workers: 1 });
    const { jobId } = await drawing(service, { code: ENDLESS });
    const [zygote] = zygotesBelow(process.pid).map(({ pid }) => pid);
    const scene = processesBelow(zygote ?? 0).at(-1)?.pid;
    const ours = getPriority(process.pid);
    t.equal(getPriority(zygote), ours);
    t.equal(getPriority(scene), Math.min(LOWEST, ours + 5));
    for (const pid of existsSync('/proc/self/autogroup') ? [zygote, scene] : []) {
      t.match(readFileSync(`/proc/${pid}/autogroup`, 'utf8'), /nice 5$/m, 'its session waits for others');
    }
    const scoreOf = (pid = 0) => Number(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8'));
    t.equal(scoreOf(scene), 1000, 'out of memory, the kernel ends the scene first');
    t.ok(scoreOf(zygote) < 1000);
    t.ok(scoreOf(process.pid) < scoreOf(zygote), 'and the service last');
    await service.cancel(jobId);
  },
);
