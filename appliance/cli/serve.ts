import { isatty } from 'node:tty';
import { Command } from 'commander';
import { isScenepressError } from '../../lib/index.ts';
import { Appliance } from '../appliance.ts';
import type { Config } from '../config/config.ts';
import { createFirstAccount, onlyAccount } from '../first-account.ts';
import { claimForAdministrator } from '../first-administrator.ts';
import { InternalToken } from '../http/authentication.ts';
import { limitYoungGeneration } from '../memory.ts';
import { openLog } from '../support/log.ts';
import { UserError } from '../user-error.ts';
import { VERSION } from '../version.ts';
import { renderWelcome } from '../welcome.ts';
import { ALL_FLAGS, addConfigFlags, configOf } from './config-flags.ts';
import { addExamples } from './describe.ts';
import { print } from './output.ts';
import { dashboardMessage, keyMessage, otherKeyMessage, startMessage, stopMessage } from './start-message.ts';
import { awaitStopSignal } from './stop-signal.ts';

/** `scenepress serve` */
export function serveCommand(): Command {
  const command = addConfigFlags(new Command('serve'), ALL_FLAGS)
    .description('Serve the HTTP API')
    .option('--welcome', 'render a welcome scene first and print its URL')
    .addHelpText(
      'after',
      '\nLogs go to standard error: text on a terminal, otherwise JSON lines, of which the one with "msg":"ready" ' +
        'contains\nthe address. SIGTERM or SIGINT stops the service gracefully; a second signal, at least one second ' +
        'later, stops it\nimmediately. SIGHUP reopens the log file and reloads the certificate.\n' +
        'SCENEPRESS_MASTER_KEY is the key that encrypts webhook secrets, SCENEPRESS_METRICS_TOKEN the bearer token\n' +
        'for /metrics.',
    )
    .action((flags: Record<string, unknown>) => serve(configOf(flags), flags['welcome'] === true));
  return addExamples(
    command,
    'scenepress serve --data-dir /var/lib/scenepress',
    ['scenepress serve --host 0.0.0.0 --public-url https://render.example.org', 'reachable from the network'],
    ['SCENEPRESS_CREDITS_MODE=unmetered scenepress serve', 'options can be environment variables'],
  );
}

async function serve(config: Config, welcome: boolean): Promise<void> {
  limitYoungGeneration();
  const { logger, reopen } = openLog(config);
  const internalToken = welcome ? new InternalToken() : undefined;
  const appliance = new Appliance(config, logger, { ...(internalToken && { internalToken }) });
  const { received: stopSignal, aborted } = awaitStopSignal();
  onHangup(() => {
    reopen();
    appliance.reload().catch((error: unknown) => logger.error({ err: error }, 'reload failed'));
  });

  let started: Awaited<ReturnType<Appliance['start']>>;
  try {
    started = await appliance.start({ signal: aborted });
  } catch (error) {
    if (!aborted.aborted) throw error;
    logger.info({ signal: await stopSignal }, 'stopped during start');
    return;
  }
  const { hapi, addresses, service, installation } = started;
  try {
    const url = addresses.publicUrl();
    const key = await createFirstAccount(installation);
    const dataDir = installation.folder.path;
    const { queuePausedAt } = service.status();
    const aboutKeys = key
      ? keyMessage({ url, key })
      : otherKeyMessage({ account: await onlyAccount(installation), dataDir });
    const isOn = config.dashboard === 'on';
    if (isOn) await claimForAdministrator(config, installation, logger);
    const { url: setupLink } = await installation.administration.accounts.showSetupLink();
    const dashboard = isOn ? dashboardMessage({ url, setupLink }) : '';
    print(startMessage({ config, url, dataDir, queuePausedAt }) + dashboard + aboutKeys);
    logger.info({ version: VERSION, url, port: hapi.info.port, dataDir }, 'ready');
    if (internalToken) await Promise.race([welcomeTheUser(), stopSignal]);
    const signal = await stopSignal;
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
      print(`Watch it: ${await renderWelcome(hapi, service, internalToken as InternalToken)}`);
    } catch (error) {
      // The service keeps running.
      if (error instanceof UserError) print(error.message);
      else if (!isScenepressError(error, 'not_running')) logger.error({ err: error }, 'welcome failed');
    } finally {
      internalToken?.revoke();
    }
  }
}

/** SIGHUP reloads a service without a terminal. With one, it means that the terminal was closed, and stops it. */
function onHangup(reload: () => void): void {
  if (!isatty(0)) {
    process.on('SIGHUP', reload);
    return;
  }
  process.once('SIGHUP', () => {
    process.on('SIGHUP', () => {}); // Shell and kernel may both send it; ignore the second one.
    process.kill(process.pid, 'SIGTERM');
  });
}
