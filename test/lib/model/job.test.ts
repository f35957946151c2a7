import { AssertionError } from 'node:assert/strict';
import t from 'tap';
import { isTerminal, jobOf, orphanKeysOf, statusOf } from '../../../lib/model/job.ts';
import { jobRecord } from '../../fixtures/job-record.ts';

const AT = '2026-11-21T10:00:00.000Z';
const atMs = Date.parse(AT);

t.test('completed and failed jobs are terminal, and a settling job is shown as running', async (t) => {
  const phases = ['reserving', 'queued', 'running', 'settling', 'completed', 'failed'] as const;
  t.same(
    phases.filter((phase) => isTerminal(phase)),
    ['completed', 'failed'],
  );
  t.same(
    phases.slice(1).map((phase) => statusOf(phase as 'queued')),
    ['queued', 'running', 'running', 'completed', 'failed'],
  );
});

t.test('the public view of a job', async (t) => {
  const artifacts = [{ name: 'video.mp4' as const, assetKey: 'k', sizeBytes: 1 }];
  const record = jobRecord('1', { phase: 'completed', artifacts, durationMs: 7, createdAtMs: atMs });
  const job = jobOf({ ...record, startedAtMs: atMs + 1, completedAtMs: atMs + 2, forgottenAtMs: atMs + 3 });
  t.match(job, {
    status: 'completed',
    durationMs: 7,
    artifacts,
    createdAt: AT,
    startedAt: '2026-11-21T10:00:00.001Z',
    completedAt: '2026-11-21T10:00:00.002Z',
    forgottenAt: '2026-11-21T10:00:00.003Z',
  });
  t.not(job.artifacts[0], artifacts[0], 'a copy');
  t.equal(job.failedBy, null);
  t.equal(jobOf({ ...record, phase: 'failed', failedBy: 'limit:time' }).failedBy, 'limit:time');
  const queued = jobOf(jobRecord('1', { durationMs: 7 }));
  t.match(queued, { status: 'queued', durationMs: null, startedAt: null, completedAt: null });
  t.notOk('forgottenAt' in queued);
  t.throws(() => jobOf(jobRecord('1', { phase: 'reserving' })), AssertionError);
});

t.test('orphans are what any attempt may have stored and the job does not refer to', async (t) => {
  const artifacts = [{ name: 'video.mp4' as const, assetKey: '1-2/video.mp4', sizeBytes: 1 }];
  t.same(orphanKeysOf(jobRecord('1', { phase: 'completed', artifacts, token: 2 })), [
    ...['1-1/video.mp4', '1-1/video.index', '1-1/thumbnail.jpg', '1-1/captions.vtt'],
    ...['1-2/thumbnail.jpg', '1-2/captions.vtt'],
  ]);
  t.same(orphanKeysOf(jobRecord('1')), [], 'before the first attempt there are none');
});
