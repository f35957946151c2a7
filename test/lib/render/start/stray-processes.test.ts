import { spawn } from 'node:child_process';
import { once } from 'node:events';
import t from 'tap';
import { killSession, killTree } from '../../../../lib/render/start/stray-processes.ts';
import { systemClock } from '../../../../lib/time/clock.ts';
import { ended, processesBelow, processesNamed } from '../../../fixtures/processes.ts';

/** Starts a session: a shell that waits for another one, and an orphaned program. */
async function startSession(seconds: string) {
  const script = `(sleep ${seconds} &) ; sh -c 'sleep ${seconds}; :' & echo ready; wait`;
  const leader = spawn('sh', ['-c', script], { detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  await once(leader.stdout, 'data');
  const pid = leader.pid as number;
  return { pid, over: once(leader, 'exit'), sleepers: () => processesNamed(`sleep ${seconds}`) };
}

t.test('killTree kills a process tree and nothing else', async (t) => {
  const [session, other] = [await startSession('7654321.5'), await startSession('7654321.6')];
  const below = processesBelow(session.pid);
  t.ok(below.length > 0);
  killTree(session.pid, systemClock);
  await ended(below, 1000);
  await session.over;
  t.equal(session.sleepers().length, 1, 'the orphan is not part of the tree');
  t.ok(processesBelow(other.pid).length > 0, 'the other session still runs');
  killTree(other.pid, systemClock);
  await other.over;
  for (const { pid } of [session, other]) killSession(pid, systemClock);
});

t.test('killSession kills a session, orphans included, once its leader has ended', async (t) => {
  const session = await startSession('7654321.7');
  killSession(session.pid, systemClock);
  t.ok(session.sleepers().length > 1, 'not while its leader runs');
  process.kill(session.pid, 'SIGKILL');
  await session.over;
  killSession(session.pid, systemClock);
  await ended(session.sleepers(), 1000);
});
