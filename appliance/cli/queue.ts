import { Command } from 'commander';
import type { QueueInfo } from '../admin/administration-views.ts';
import { configOf } from './config-flags.ts';
import { addExamples, administrative } from './describe.ts';
import { printDetails, printJson, shownTime } from './output.ts';
import { withAdministration } from './with-administration.ts';

type Flags = { json?: boolean } & Record<string, unknown>;

/** `scenepress queue …` */
export function queueCommand(): Command {
  const queue = new Command('queue').description('Jobs that wait: look, pause, resume');
  addExamples(queue, ['scenepress queue pause', 'before maintenance; requests are still taken on']);

  queue.addCommand(
    administrative(
      'show',
      'Show how many jobs wait and run, and whether renders begin',
      'scenepress queue show --json',
    ).action(async (flags: Flags) => {
      show(flags, await withAdministration(configOf(flags), (admin) => admin.queue.show()));
    }),
  );

  queue.addCommand(
    administrative(
      'pause',
      'Begin no more renders, through restarts too; running ones go on, and jobs are taken on',
      'scenepress queue pause',
    ).action(async (flags: Flags) => {
      show(flags, await withAdministration(configOf(flags), (admin) => admin.queue.pause()));
    }),
  );

  queue.addCommand(
    administrative('resume', 'Begin renders again', 'scenepress queue resume').action(
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

function describe({ pausedAt, queued, running, workers, ready }: QueueInfo): void {
  printDetails([
    ['Queue', pausedAt === null ? stateOf(ready, workers) : `paused since ${shownTime(pausedAt)}`],
    ['Waiting', String(queued)],
    ['Running', workers === 0 ? '0' : `${running} of ${workers}`],
  ]);
}

function stateOf(ready: boolean, workers: number): string {
  if (ready) return 'renders begin';
  return workers === 0 ? 'no server runs; renders begin when one is started' : 'the renderer is not ready';
}
