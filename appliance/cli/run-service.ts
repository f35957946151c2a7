import { isatty } from 'node:tty';
import { isScenepressError } from '../../lib/internal.ts';
import { createFirstAccount, type FirstKey, onlyAccount } from '../admin/first-account.ts';
import { Appliance } from '../app/appliance.ts';
import { MoreTex } from '../app/more-tex.ts';
import { boundUrl, listeningUrl } from '../config/addresses.ts';
import type { Config } from '../config/config.ts';
import { claimForAdministrator } from '../first-start/first-administrator.ts';
import { renderWelcome } from '../first-start/welcome.ts';
import { InternalToken } from '../http/authentication.ts';
import { assertLimits } from '../place/process-limits.ts';
import { openLog } from '../support/log.ts';
import { UserError } from '../support/user-error.ts';
import { VERSION } from '../support/version.ts';
import { print } from './output.ts';
import {
  dashboardMessage,
  keyMessage,
  otherKeyMessage,
  rolesMessage,
  startMessage,
  stopMessage,
} from './start-message.ts';
import { awaitStopSignal } from './stop-signal.ts';

/**
 * Runs a server or a worker until it is told to stop. `welcome`: renders a scene first; `installsTex`: then installs the
 * TeX packages that the set-up has left for later.
 */
export async function runService(
  config: Config,
  { welcome = false, installsTex = false }: { welcome?: boolean; installsTex?: boolean } = {},
): Promise<void> {
  assertLimits(config);
  // Output to a full disk must not end it.
  process.stdout.removeAllListeners('error').on('error', () => {});
  const { logger, reopen } = openLog(config);
  const internalToken = welcome ? new InternalToken() : undefined;
  const moreTex = installsTex ? new MoreTex(logger) : undefined;
  const appliance = new Appliance(config, logger, {
    ...(internalToken && { internalToken }),
    ...(moreTex && { moreTex }),
  });
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
  const { hapi, addresses, service, installation, drainRequested } = started;
  const drained = drainRequested.then(() => 'drain' as const);
  let graceMs = config.drainSeconds * 1000;
  try {
    const url = addresses.publicUrl();
    const dataDir = installation.place.path;
    const { queuePausedAt } = service.status();
    if (config.roles.includes('api')) {
      const { key, dashboard } = await prepareApi();
      const account = key === undefined ? await onlyAccount(installation) : undefined;
      const aboutKeys = key ? keyMessage({ url, ...key }) : otherKeyMessage({ config, account, dataDir });
      const listening = { config, url: boundUrl(hapi), dataDir, queuePausedAt };
      print(startMessage(listening) + dashboard + aboutKeys);
    } else print(rolesMessage({ config, url: listeningUrl(hapi) }));
    logger.info({ version: VERSION, url, port: hapi.info.port, dataDir }, 'ready');
    if (internalToken) await Promise.race([welcomeTheUser(), stopSignal]);
    // Not before the first video, which it would delay.
    if (!aborted.aborted) moreTex?.start();
    const signal = await Promise.race([stopSignal, drained]);
    logger.info({ signal }, 'stopping');
    if (signal === 'drain') {
      // Renders may take their whole time, unless a signal comes.
      graceMs = config.renderTimeoutSeconds * 1000;
      void stopSignal.then(() => service.drain({ graceMs: config.drainSeconds * 1000 }));
    }
    const { drainSeconds } = config;
    if (signal === 'SIGINT') print(stopMessage({ running: service.status().running, drainSeconds }));
  } finally {
    moreTex?.stop();
    await appliance.stop({ graceMs });
  }
  logger.info({}, 'stopped');

  /** Machines that start for the first time at the same time must not create an account each. */
  async function prepareApi(): Promise<{ key: FirstKey | undefined; dashboard: string }> {
    const { storage } = installation.place;
    const key = await storage.alone('first account', () => createFirstAccount(installation));
    if (config.dashboard !== 'on') return { key, dashboard: '' };
    await storage.alone('first administrator', () => claimForAdministrator(config, installation, logger));
    const { url: setupLink } = await installation.administration.accounts.showSetupLink();
    return { key, dashboard: dashboardMessage({ url: addresses.publicUrl(), setupLink }) };
  }

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
