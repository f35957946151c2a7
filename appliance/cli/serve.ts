import { Command } from 'commander';
import { addConfigFlags, configOf } from './config-flags.ts';
import { addExamples } from './describe.ts';
import { runService } from './run-service.ts';

/** `scenepress serve` */
export function serveCommand(): Command {
  const command = addConfigFlags(new Command('serve'))
    .description('Serve the HTTP API')
    .option('--welcome', 'render a welcome scene first and print its URL')
    .option(
      '--install-tex',
      'as root of a Debian machine, in a checkout: install missing TeX packages while serving',
    )
    .addHelpText(
      'after',
      '\nLogs go to standard error: text on a terminal, otherwise JSON lines, of which the one with "msg":"ready" ' +
        'contains\nthe address. SIGTERM or SIGINT stops the service gracefully; a second signal, at least one second ' +
        'later, stops it\nimmediately. SIGHUP reopens the log file and reloads the certificate.\n' +
        'SCENEPRESS_MASTER_KEY is the key that encrypts webhook secrets, SCENEPRESS_METRICS_TOKEN the bearer token\n' +
        'for /metrics.',
    )
    .action((flags: Record<string, unknown>) =>
      runService(configOf(flags), {
        welcome: flags['welcome'] === true,
        installsTex: flags['installTex'] === true,
      }),
    );
  return addExamples(
    command,
    'scenepress serve --data-dir /var/lib/scenepress',
    ['scenepress serve --host 0.0.0.0 --public-url https://render.example.org', 'reachable from the network'],
    ['SCENEPRESS_CREDITS_MODE=unmetered scenepress serve', 'options can be environment variables'],
  );
}
