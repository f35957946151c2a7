import { Command } from 'commander';
import type { QueueInfo } from '../admin/service-views.ts';
import { withAdministration } from '../runtime/with-administration.ts';
import { configOf } from './config-flags.ts';
import { addExamples, administrative } from './describe.ts';
import { printDetails, printJson, shownTime } from './output.ts';

type Flags = { json?: boolean } & Record<string, unknown>;

/** `scenepress queue …` */
export function queueCommand(): Command {
  const queue = new Command('queue').description('Show, pause and resume the queue of jobs');
  addExamples(queue, ['scenepress queue pause', 'before maintenance; requests are still accepted']);

  queue.addCommand(
    administrative(
      'show',
      'Show the numbers of queued and running jobs, and whether the queue is paused',
      'scenepress queue show --json',
    ).action(async (flags: Flags) => {
      show(flags, await withAdministration(configOf(flags), (admin) => admin.queue.show()));
    }),
  );

  queue.addCommand(
    administrative(
      'pause',
      'Start no further renders, even after a restart; running renders continue and new jobs are accepted',
      'scenepress queue pause',
    ).action(async (flags: Flags) => {
      show(flags, await withAdministration(configOf(flags), (admin) => admin.queue.pause()));
    }),
  );

  queue.addCommand(
    administrative('resume', 'Start renders again after a pause', 'scenepress queue resume').action(
      async (flags: Flags) => {
        show(flags, await withAdministration(configOf(flags), (admin) => admin.queue.resume()));
      },
    ),
  );

  return queue;
}

function show({ json }: Flags, queue: QueueInfo): void {
  if (json) printJson(queue);
  else describe(queue);
}

function describe(queue: QueueInfo): void {
  const { pausedAt, queued, running, workers, warnings } = queue;
  printDetails([
    ['Queue', pausedAt === null ? stateOf(queue) : `paused since ${shownTime(pausedAt)}`],
    ['Warnings', warnings.join('\n')],
    ['Waiting', String(queued)],
    ['Running', workers === 0 ? '0' : `${running} of ${workers}`],
  ]);
}

function stateOf({ ready, workers, warnings }: QueueInfo): string {
  if (ready) return 'running';
  if (warnings.length > 0) return 'not paused';
  return workers === 0 ? 'not paused; no server is running' : 'running; the renderer is not ready';
}
