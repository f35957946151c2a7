import { isSea } from 'node:sea';
import { Command } from 'commander';
import { VERSION } from '../support/version.ts';
import { addExamples } from './describe.ts';

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

/** The commands, in the order of the help. Each is loaded alone when it is called: all take most of a second. */
const COMMANDS: Record<string, Record<string, () => Promise<Command>>> = {
  'Render:': {
    serve: async () => (await import('./serve.ts')).serveCommand(),
    worker: async () => (await import('./worker.ts')).workerCommand(),
    render: async () => (await import('./render.ts')).renderCommand(),
    check: async () => (await import('./check.ts')).checkCommand(),
    inspect: async () => (await import('./inspect.ts')).inspectCommand(),
    share: async () => (await import('./share.ts')).shareCommand(),
    file: async () => (await import('./file.ts')).fileCommand(),
    scene: async () => (await import('./scene.ts')).sceneCommand(),
    skill: async () => (await import('./skill.ts')).skillCommand(),
    mcp: async () => (await import('./mcp.ts')).mcpCommand(),
  },
  'Administration, with or without a running server:': {
    account: async () => (await import('./account.ts')).accountCommand(),
    'setup-link': async () => (await import('./setup-link.ts')).setupLinkCommand(),
    key: async () => (await import('./key.ts')).keyCommand(),
    job: async () => (await import('./job.ts')).jobCommand(),
    queue: async () => (await import('./queue.ts')).queueCommand(),
    credits: async () => (await import('./credits.ts')).creditsCommand(),
    delivery: async () => (await import('./delivery.ts')).deliveryCommand(),
    machine: async () => (await import('./machine.ts')).machineCommand(),
    backup: async () => (await import('./backup.ts')).backupCommand(),
    restore: async () => (await import('./backup.ts')).restoreCommand(),
    'master-key': async () => (await import('./master-key.ts')).masterKeyCommand(),
    recover: async () => (await import('./recover.ts')).recoverCommand(),
    migrate: async () => (await import('./migrate.ts')).migrateCommand(),
    installation: async () => (await import('./installation.ts')).installationCommand(),
  },
  'Installation and diagnosis:': {
    status: async () => (await import('./status.ts')).statusCommand(),
    health: async () => (await import('./health.ts')).healthCommand(),
    doctor: async () => (await import('./doctor.ts')).doctorCommand(),
    'support-bundle': async () => (await import('./support-bundle.ts')).supportBundleCommand(),
    config: async () => (await import('./config.ts')).configCommand(),
    'install-service': async () => (await import('./install-service.ts')).installServiceCommand(),
    metrics: async () => (await import('./metrics.ts')).metricsCommand(),
    openapi: async () => (await import('./openapi.ts')).openApiCommand(),
    schema: async () => (await import('./schema.ts')).schemaCommand(),
    completion: async () => (await import('./completion.ts')).completionCommand(),
    version: async () => (await import('./version.ts')).versionCommand(),
  },
};

/** Whose calls need no other command. */
const ALONE = new Set(['-V', '--version', ...Object.values(COMMANDS).flatMap(Object.keys)]);
ALONE.delete('completion'); // It describes all.

/**
 * The `scenepress` command. The launcher implements `setup`, which must work before anything is installed. `word`: the
 * first one of a call, which mostly needs no other command; if it is none, the program has all.
 */
export async function createProgram(word?: string): Promise<Command> {
  const program = new Command('scenepress')
    .description('Renders Manim scenes, as a service with an HTTP API or from the command line')
    .version(VERSION);
  for (const [heading, commands] of Object.entries(COMMANDS)) {
    program.commandsGroup(heading);
    for (const load of needed(commands, word)) program.addCommand(await load());
  }
  addExamples(
    program,
    ['scenepress serve', 'start the service on http://127.0.0.1:8080'],
    ['scenepress render scene.py Hello -q high -o hello.mp4', 'render without the service'],
    ['scenepress job list --help', 'every command has examples'],
  );
  const codes = EXIT_CODES.map(([code, meaning]) => `  ${code.padEnd(4)} ${meaning}`);
  return program.addHelpText('after', `\nExit codes:\n${codes.join('\n')}\n${isSea() ? '' : SETUP}`);
}

function needed(commands: (typeof COMMANDS)[string], word = ''): (() => Promise<Command>)[] {
  return Object.entries(commands).flatMap(([name, load]) =>
    name === word || !ALONE.has(word) ? [load] : [],
  );
}
