import { Command } from 'commander';
import { type Config, readSettings } from '../config/config.ts';
import { UserError } from '../support/user-error.ts';
import { addConfigFlags, configOf } from './config-flags.ts';
import { addExamples } from './describe.ts';
import { runService } from './run-service.ts';

/** `scenepress worker` */
export function workerCommand(): Command {
  const command = addConfigFlags(new Command('worker'), 'worker')
    .description(
      'Render the jobs of a service with a database; several workers may run, on any number of machines',
    )
    .addHelpText(
      'after',
      '\nIt needs the same options as the servers: database, artifacts, prices, limits and the public URL. It needs no\n' +
        'master key, and should not have it, because it runs the code of scenes.\n' +
        'Without --port, /health and /metrics are on a free port. SIGTERM stops it gracefully: running renders may\n' +
        'continue for the time of --drain-seconds; those that do not finish are rendered by another worker.',
    )
    .action((given: Record<string, unknown>) => runService(workerConfig(given)));
  return addExamples(
    command,
    'scenepress worker --database-url postgres://scenepress@db/studio --s3-bucket renders --public-url https://render.example.org',
    [
      'scenepress worker --quality fourk --workers 2',
      'on a machine with much memory; the rest is in the environment',
    ],
  );
}

function workerConfig(flags: Record<string, unknown>): Config {
  const config = configOf(flags);
  if (config.databaseUrl === undefined) {
    throw new UserError(
      'A worker takes its jobs from the database of the service: set --database-url or SCENEPRESS_DATABASE_URL. ' +
        'Without a database, `scenepress serve` renders the jobs itself.',
      { exitCode: 2 },
    );
  }
  const port = readSettings({ flags, env: process.env }).find(({ name }) => name === 'port');
  return {
    ...config,
    roles: ['worker'],
    port: port?.source === 'default' ? 0 : config.port,
  };
}
