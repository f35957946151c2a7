import { isSea } from 'node:sea';
import { Command } from 'commander';
import { VERSION } from '../support/version.ts';
import { accountCommand } from './account.ts';
import { backupCommand, restoreCommand } from './backup.ts';
import { checkCommand } from './check.ts';
import { completionCommand } from './completion.ts';
import { configCommand } from './config.ts';
import { creditsCommand } from './credits.ts';
import { deliveryCommand } from './delivery.ts';
import { addExamples } from './describe.ts';
import { doctorCommand } from './doctor.ts';
import { fileCommand } from './file.ts';
import { healthCommand } from './health.ts';
import { inspectCommand } from './inspect.ts';
import { installServiceCommand } from './install-service.ts';
import { installationCommand } from './installation.ts';
import { jobCommand } from './job.ts';
import { keyCommand } from './key.ts';
import { machineCommand } from './machine.ts';
import { masterKeyCommand } from './master-key.ts';
import { mcpCommand } from './mcp.ts';
import { metricsCommand } from './metrics.ts';
import { migrateCommand } from './migrate.ts';
import { openApiCommand } from './openapi.ts';
import { queueCommand } from './queue.ts';
import { recoverCommand } from './recover.ts';
import { renderCommand } from './render.ts';
import { schemaCommand } from './schema.ts';
import { serveCommand } from './serve.ts';
import { setupLinkCommand } from './setup-link.ts';
import { skillCommand } from './skill.ts';
import { statusCommand } from './status.ts';
import { supportBundleCommand } from './support-bundle.ts';
import { versionCommand } from './version.ts';
import { workerCommand } from './worker.ts';

/** The program's exit codes. */
export const EXIT_CODES: [code: string, meaning: string][] = [
  ['0', 'done'],
  [
    '1',
    'the scene, the operation or the start of the service failed; `credits audit`, `doctor` or `health` found a problem',
  ],
  ['2', 'invalid usage or configuration'],
  ['70', 'internal error of the program: please report it with its output'],
  [
    '74',
    'disk I/O failed while the service ran, as the last line of its log says; the on-disk state is unknown',
  ],
  ['130', 'interrupted (Ctrl-C)'],
];

/** The single executable needs no setup and has no such command. */
const SETUP =
  '\n`scenepress setup` installs the requirements of rendering: system packages and a Python environment.';

/** The `scenepress` command. The launcher implements `setup`, which must work before anything is installed. */
export function createProgram(): Command {
  const program = new Command('scenepress')
    .description('Renders Manim scenes, as a service with an HTTP API or from the command line')
    .version(VERSION)
    .commandsGroup('Render:')
    .addCommand(serveCommand())
    .addCommand(workerCommand())
    .addCommand(renderCommand())
    .addCommand(checkCommand())
    .addCommand(inspectCommand())
    .addCommand(fileCommand())
    .addCommand(skillCommand())
    .addCommand(mcpCommand())
    .commandsGroup('Administration, with or without a running server:')
    .addCommand(accountCommand())
    .addCommand(setupLinkCommand())
    .addCommand(keyCommand())
    .addCommand(jobCommand())
    .addCommand(queueCommand())
    .addCommand(creditsCommand())
    .addCommand(deliveryCommand())
    .addCommand(machineCommand())
    .addCommand(backupCommand())
    .addCommand(restoreCommand())
    .addCommand(masterKeyCommand())
    .addCommand(recoverCommand())
    .addCommand(migrateCommand())
    .addCommand(installationCommand())
    .commandsGroup('Installation and diagnosis:')
    .addCommand(statusCommand())
    .addCommand(healthCommand())
    .addCommand(doctorCommand())
    .addCommand(supportBundleCommand())
    .addCommand(configCommand())
    .addCommand(installServiceCommand())
    .addCommand(metricsCommand())
    .addCommand(openApiCommand())
    .addCommand(schemaCommand())
    .addCommand(completionCommand())
    .addCommand(versionCommand());
  addExamples(
    program,
    ['scenepress serve', 'start the service on http://127.0.0.1:8080'],
    ['scenepress render scene.py Hello -q high -o hello.mp4', 'render without the service'],
    ['scenepress job list --help', 'every command has examples'],
  );
  const codes = EXIT_CODES.map(([code, meaning]) => `  ${code.padEnd(4)} ${meaning}`);
  return program.addHelpText('after', `\nExit codes:\n${codes.join('\n')}\n${isSea() ? '' : SETUP}`);
}
