import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import type { Job } from '../../../lib/index.ts';
import { processesBelow } from '../../fixtures/processes.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const PROGRAM = join(import.meta.dirname, '../../fixtures/stopped-program.ts');
const STOPPED_MS = 12_000;
const MOST_WORKED_MS = 6_000;

t.test('time in which all processes are stopped is not billed and not limited', async (t) => {
  const service = spawn(process.execPath, [PROGRAM, testFolder(t)], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => service.kill('SIGKILL'));
  const lines = createInterface({ input: service.stdout });
  await once(lines, 'line');
  const all = [service.pid as number, ...processesBelow(service.pid as number).map(({ pid }) => pid)];
  for (const pid of all) process.kill(pid, 'SIGSTOP');
  await delay(STOPPED_MS); // Nothing happens meanwhile.
  for (const pid of all) process.kill(pid, 'SIGCONT');
  const [line] = await once(lines, 'line');
  const job = JSON.parse(line) as Job;
  t.match(job, { status: 'completed', attempts: 1, error: null });
  t.ok(Number(job.durationMs) < MOST_WORKED_MS, `${job.durationMs} ms`);
});
