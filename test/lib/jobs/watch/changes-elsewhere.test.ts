import { EventEmitter } from 'node:events';
import t from 'tap';
import { tellChangesElsewhere } from '../../../../lib/jobs/watch/changes-elsewhere.ts';
import type { JobEvents } from '../../../../lib/model/job-events.ts';
import type { RenderProgress } from '../../../../lib/model/render-task.ts';
import type { ChangedJob } from '../../../../lib/storage/signals.ts';
import { jobRecord } from '../../../fixtures/job-record.ts';

const PHASES = ['reserving', 'queued', 'running', 'settling', 'completed', 'failed'] as const;

function hearing() {
  const calls: unknown[][] = [];
  const events: JobEvents = new EventEmitter();
  const changes = new EventEmitter<{ changed: [job: ChangedJob] }>();
  tellChangesElsewhere(
    {
      dispatcher: {
        runningIds: ['here'],
        endedElsewhere: (owner) => void calls.push(['ended elsewhere', owner]),
      },
      ends: { notify: (jobId) => void calls.push(['end', jobId]) },
      fairness: { note: ({ owner }) => void calls.push(['noted', owner]) },
      remoteJobs: { events, changes },
    },
    {
      remoteJob: (job) => void calls.push(['remoteJob', job]),
      progress: (jobId, progress) => void calls.push(['progress', jobId, progress]),
      preview: (jobId, jpeg) => void calls.push(['preview', jobId, jpeg]),
    },
  );
  return { events, changes, called: () => calls.splice(0) };
}

t.test('only the end of a job wakes those that wait for it', (t) => {
  const { events, called } = hearing();
  for (const phase of PHASES) {
    events.emit('change', jobRecord('1', { phase }));
    t.same(called(), phase === 'completed' || phase === 'failed' ? [['end', '1']] : [], phase);
  }
  t.end();
});

t.test('progress and previews become events of the service', (t) => {
  const { events, called } = hearing();
  const progress: RenderProgress = { stage: 'rendering', frames: 2, seconds: 0.5 };
  events.emit('progress', '1', progress);
  events.emit('preview', '1', Buffer.from('picture'));
  t.same(called(), [
    ['progress', '1', progress],
    ['preview', '1', Buffer.from('picture')],
  ]);
  t.end();
});

t.test('changes become events, and ends count for their owner', (t) => {
  const { changes, called } = hearing();
  for (const phase of PHASES) changes.emit('changed', jobRecord('1', { phase, owner: 'ada' }));
  const event = (status: string) => ['remoteJob', { jobId: '1', owner: 'ada', status }];
  const ended = [
    ['noted', 'ada'],
    ['ended elsewhere', 'ada'],
  ];
  t.same(called(), [
    event('queued'),
    event('running'),
    event('running'),
    ...ended,
    event('completed'),
    ...ended,
    event('failed'),
  ]);
  t.end();
});

t.test('no event says that a job is queued once this process renders it', (t) => {
  const { changes, called } = hearing();
  changes.emit('changed', jobRecord('here', { phase: 'queued' }));
  t.same(called(), []);
  changes.emit('changed', jobRecord('here', { phase: 'failed', owner: 'ada' }));
  t.same(called().at(-1), ['remoteJob', { jobId: 'here', owner: 'ada', status: 'failed' }]);
  t.end();
});
