import { existsSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import t from 'tap';
import { processesBelow, zygotesBelow } from '../../fixtures/processes.ts';
import { cancelToTheEnd, drawing, ENDLESS, render, startService } from '../../fixtures/renders.ts';

const LOWEST = 19;
const hasSessions = existsSync('/proc/self/autogroup');

function sessionNiceness(pid = 0): number {
  return Number(/ nice (-?\d+)$/m.exec(readFileSync(`/proc/${pid}/autogroup`, 'utf8'))?.[1]);
}

function scenesAndZygotes(): { zygote: number; scene: number } {
  const [{ pid: zygote } = { pid: 0 }] = zygotesBelow(process.pid);
  return { zygote, scene: processesBelow(zygote).at(-1)?.pid ?? 0 };
}

t.test('the service has priority over the renderer, and the renderer over scenes', async (t) => {
  const service = await startService(t, { workers: 1 });
  t.match(await render(service, {}), { status: 'completed' });
  const { jobId } = await drawing(service, { code: ENDLESS });
  const { zygote, scene } = scenesAndZygotes();
  const ours = getPriority(process.pid);
  t.equal(getPriority(zygote), ours);
  t.equal(getPriority(scene), Math.min(LOWEST, ours + 1));
  for (const pid of hasSessions ? [zygote, scene] : []) {
    t.equal(sessionNiceness(pid), 1, 'its session has a lower priority');
  }
  const scoreOf = (pid = 0) => Number(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8'));
  t.equal(scoreOf(scene), 1000, 'the OOM killer ends the scene first');
  t.ok(scoreOf(zygote) < 1000);
  t.ok(scoreOf(process.pid) < scoreOf(zygote), 'and the service last');
  await cancelToTheEnd(service, jobId);
});

t.test('renders of an owner without recent completed jobs have a lower priority', async (t) => {
  const service = await startService(t, { workers: 1 });
  const stranger = { owner: 'stranger', code: ENDLESS };
  const known = { owner: 'known', code: ENDLESS };
  t.match(await render(service, { owner: 'known' }), { status: 'completed' });
  for (const [request, niceness] of [
    [stranger, 10],
    [known, 1],
    [stranger, 10],
  ] as const) {
    const { jobId } = await drawing(service, request);
    const { scene } = scenesAndZygotes();
    t.equal(getPriority(scene), Math.min(LOWEST, getPriority(process.pid) + niceness), request.owner);
    if (hasSessions) t.equal(sessionNiceness(scene), niceness, `the session of ${request.owner}`);
    await cancelToTheEnd(service, jobId);
  }
});
