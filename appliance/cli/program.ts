import { Command } from 'commander';
import { VERSION } from '../version.ts';
import { accountCommand } from './account.ts';
import { backupCommand, restoreCommand } from './backup.ts';
import { creditsCommand } from './credits.ts';
import { deliveryCommand } from './delivery.ts';
import { jobCommand } from './job.ts';
import { keyCommand } from './key.ts';
import { metricsCommand } from './metrics.ts';
import { openApiCommand } from './openapi.ts';
import { queueCommand } from './queue.ts';
import { renderCommand } from './render.ts';
import { serveCommand } from './serve.ts';

/** The `scenepress` command. `setup`, which has to work before anything is installed, is its launcher's. */
export function createProgram(): Command {
  return new Command('scenepress')
    .description('Renders Manim scenes: a service with an HTTP API, and a command')
    .version(VERSION)
    .addCommand(serveCommand())
    .addCommand(renderCommand())
    .addCommand(accountCommand())
    .addCommand(keyCommand())
    .addCommand(jobCommand())
    .addCommand(queueCommand())
    .addCommand(creditsCommand())
    .addCommand(deliveryCommand())
    .addCommand(backupCommand())
    .addCommand(restoreCommand())
    .addCommand(metricsCommand())
    .addCommand(openApiCommand())
    .addHelpText(
      'after',
      '\n`scenepress setup` installs what rendering needs: system packages and a Python environment.\n' +
        'Exit codes: 0 done, 1 failed, 2 wrong usage or configuration.',
    );
}
