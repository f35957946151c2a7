import { isatty } from 'node:tty';
import { Command } from 'commander';
import { isScenepressError } from '../../lib/index.ts';
import { Appliance } from '../appliance.ts';
import type { Config } from '../config/config.ts';
import { openFirstAccount } from '../first-account.ts';
import { HouseToken } from '../http/authentication.ts';
import { keepMemorySmall } from '../memory.ts';
import { openLog } from '../support/log.ts';
import { UserError } from '../user-error.ts';
import { VERSION } from '../version.ts';
import { renderWelcome } from '../welcome.ts';
import { ALL_FLAGS, addConfigFlags, configOf } from './config-flags.ts';
import { addExamples } from './describe.ts';
import { print } from './output.ts';
import { keyMessage, startMessage, stopMessage } from './start-message.ts';
import { awaitStopSignal } from './stop-signal.ts';

/** `scenepress serve` */
export function serveCommand(): Command {
  const command = addConfigFlags(new Command('serve'), ALL_FLAGS)
    .description('Serve the HTTP API')
    .option('--welcome', 'render a welcome scene first and show where it is')
    .addHelpText(
      'after',
      '\nLogs are JSON lines on standard error; a line with "msg":"ready" has the address. ' +
        'SIGTERM or SIGINT stops the service\nin order, a second one, more than a second later, at once. ' +
        'SIGHUP opens the log file anew and reads the certificate again.\n' +
        'SCENEPRESS_MASTER_KEY may hold the key that webhook secrets are encrypted with, SCENEPRESS_METRICS_TOKEN\n' +
        'a token for whoever may read /metrics.',
    )
    .action((flags: Record<string, unknown>) => serve(configOf(flags), flags['welcome'] === true));
  return addExamples(
    command,
    'scenepress serve --data-dir /var/lib/scenepress',
    ['scenepress serve --host 0.0.0.0 --public-url https://render.example.org', 'open to the network'],
    ['SCENEPRESS_CREDITS_MODE=unmetered scenepress serve', 'options are variables, too'],
  );
}

async function serve(config: Config, welcome: boolean): Promise<void> {
  keepMemorySmall();
  const { logger, reopen } = openLog({ level: config.logLevel, file: config.logFile });
  const house = welcome ? new HouseToken() : undefined;
  const appliance = new Appliance(config, logger, { ...(house && { house }) });
  const { told: toldToStop, aborted } = awaitStopSignal();
  onHangup(() => {
    reopen();
    appliance.reload().catch((error: unknown) => logger.error({ err: error }, 'reload failed'));
  });

  let started: Awaited<ReturnType<Appliance['start']>>;
  try {
    started = await appliance.start({ signal: aborted });
  } catch (error) {
    if (!aborted.aborted) throw error;
    logger.info({ signal: await toldToStop }, 'stopped while it started');
    return;
  }
  const { hapi, addresses, service, installation } = started;
  try {
    const url = addresses.publicUrl();
    const key = await openFirstAccount(installation);
    const dataDir = installation.folder.path;
    const { queuePausedAt } = service.status();
    print(startMessage({ config, url, dataDir, queuePausedAt }) + (key ? keyMessage({ url, key }) : ''));
    logger.info({ version: VERSION, url, port: hapi.info.port, dataDir }, 'ready');
    if (house) await Promise.race([welcomeTheUser(), toldToStop]);
    const signal = await toldToStop;
    logger.info({ signal }, 'stopping');
    const { drainSeconds } = config;
    if (signal === 'SIGINT') print(stopMessage({ running: service.status().running, drainSeconds }));
  } finally {
    await appliance.stop();
  }
  logger.info({}, 'stopped');

  async function welcomeTheUser(): Promise<void> {
    print('Rendering the welcome scene …');
    try {
      print(`Watch it: ${await renderWelcome(hapi, service, house as HouseToken)}`);
    } catch (error) {
      // The service serves all the same.
      if (error instanceof UserError) print(error.message);
      else if (!isScenepressError(error, 'not_running')) logger.error({ err: error }, 'welcome failed');
    } finally {
      house?.giveUp();
    }
  }
}

/** SIGHUP reloads a service; one that a terminal was closed on is told to stop, as any program there. */
function onHangup(reload: () => void): void {
  if (!isatty(0)) {
    process.on('SIGHUP', reload);
    return;
  }
  process.once('SIGHUP', () => {
    process.on('SIGHUP', () => {}); // It may come from the shell and from the kernel: that is no second signal to stop.
    process.kill(process.pid, 'SIGTERM');
  });
}
