import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { DataFolder, Deliveries } from '../../../lib/index.ts';
import { TestAuthority } from '../../fixtures/certificates.ts';
import { testFolder } from '../../fixtures/test-folder.ts';
import { webhookReceiver } from '../../fixtures/webhook-receiver.ts';

const PROGRAM = join(import.meta.dirname, '../../fixtures/delivering-program.ts');
const KILLS = 6;

t.test(
  'after kills at random moments, each ended job has one delivery with at most four attempts',
  async (t) => {
    const folder = join(testFolder(t), 'data');
    const authority = new TestAuthority(testFolder(t));
    // A third never succeeds, a third at the first attempt, a third at the second.
    const seen = new Map<string, number>();
    const receiver = await webhookReceiver(t, authority.issue(['127.0.0.1']), (response, { body }) => {
      const { jobId } = JSON.parse(String(body)) as { jobId: string };
      const times = (seen.get(jobId) ?? 0) + 1;
      seen.set(jobId, times);
      const kind = kindOf(jobId);
      response.writeHead(kind === 0 || (kind === 1 && times === 1) ? 503 : 200);
      setTimeout(() => response.end(), 20);
    });
    const url = `https://127.0.0.1:${receiver.port}/`;
    const run = (...more: string[]) =>
      spawn(process.execPath, [PROGRAM, folder, url, authority.caFile, String(epoch), ...more], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
    const epoch = Date.now();
    const ended: string[] = [];
    for (let i = 0; i < KILLS; i += 1) {
      const child = run();
      const lines = createInterface({ input: child.stdout }).on('line', (jobId) => ended.push(jobId));
      await once(lines, 'line');
      await delay(100 + Math.random() * 900);
      child.kill('SIGKILL');
      await once(child, 'close');
    }
    const child = run('drain');
    const [code] = await once(child, 'close');
    t.equal(code, 0);

    const data = new DataFolder(folder);
    await data.start();
    t.teardown(() => data.stop());
    const jobs = (await data.storage.listJobs({ limit: 100_000 })).filter(({ phase }) => phase === 'failed');
    const terminal = new Set(jobs.map(({ jobId }) => jobId));
    t.ok(ended.length > KILLS && ended.every((jobId) => terminal.has(jobId)), 'no acknowledged end is lost');
    const deliveries = await new Deliveries(data).list({ limit: 100_000 });
    t.same(
      deliveries.map(({ jobId }) => jobId).sort(),
      [...terminal].sort(),
      `one each, of ${terminal.size}`,
    );
    const interrupted = deliveries.filter(({ attempts }) =>
      attempts.some(({ reason }) => reason === 'interrupted'),
    );
    t.comment(`${interrupted.length} had an attempt interrupted by a kill`);
    for (const { jobId, attempts, status, lastStatus } of deliveries) {
      const requests = seen.get(jobId) ?? 0;
      const details = JSON.stringify({ jobId, attempts, requests });
      if (requests > attempts.length || attempts.length > 4) t.fail(`too many: ${details}`);
      if (kindOf(jobId) === 0 && (status !== 'failed' || attempts.length !== 4))
        t.fail(`not four: ${details}`);
      if (
        kindOf(jobId) !== 0 &&
        (status !== 'delivered' || lastStatus !== 200) &&
        !wasUnlucky(jobId, attempts)
      )
        t.fail(`not delivered: ${details}`);
    }
  },
);

/** Whether every attempt was interrupted by a kill or refused by the receiver. */
function wasUnlucky(jobId: string, attempts: { status: number; reason: string | null }[]): boolean {
  const refused = attempts.filter(({ status }) => status === 503).length;
  const interrupted = attempts.filter(({ reason }) => reason === 'interrupted').length;
  return refused + interrupted === 4 && refused <= (kindOf(jobId) === 1 ? 1 : 0);
}

/** A pseudo-random kind that receiver and test derive from the job id. */
function kindOf(jobId: string): number {
  return Number.parseInt(jobId.slice(-4), 16) % 3;
}
