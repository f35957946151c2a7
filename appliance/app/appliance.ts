import type { RenderService } from '../../lib/index.ts';
import { type PasswordCost, systemClock } from '../../lib/internal.ts';
import { COMMAND_LINE } from '../admin/acts.ts';
import { AdminSocket } from '../admin/admin-socket.ts';
import { configuredAssetUrl, configuredPublicUrl } from '../config/addresses.ts';
import type { Config } from '../config/config.ts';
import { Certificate } from '../edge/certificate.ts';
import { authenticator, type InternalToken } from '../http/authentication.ts';
import { KeyRate } from '../http/key-rate.ts';
import { KeyUses } from '../http/key-uses.ts';
import { configuredIssuer } from '../http/oidc/configured-issuer.ts';
import { SignIn } from '../http/oidc/sign-in.ts';
import type { HttpServer } from '../http/server.ts';
import { Comparison } from '../machines/comparison.ts';
import { OwnMachine } from '../machines/own-machine.ts';
import { usesSecrets } from '../place/master-key.ts';
import { readWebhookAuthorities } from '../place/webhook-authorities.ts';
import { Faults } from '../support/faults.ts';
import type { Logger } from '../support/log.ts';
import { UserError } from '../support/user-error.ts';
import { startTraces } from '../traces/traces.ts';
import { type Installation, openInstallation } from './installation.ts';
import type { MoreTex } from './more-tex.ts';
import { accountsReport } from './running-limit.ts';
import { Teardown } from './teardown.ts';

const REQUESTS_GRACE_MS = 10_000;
const NEVER = new Promise<never>(() => {});

/** What a started {@link Appliance} consists of. */
export interface StartedAppliance extends HttpServer {
  service: RenderService;
  installation: Installation;
  /** Resolves when this machine is asked to finish its renders and exit; never without a database. */
  drainRequested: Promise<void>;
}

/** The service with its data folder, administration socket and HTTP server. */
export class Appliance {
  readonly #config: Config;
  readonly #faults = new Faults();
  readonly #logger: Logger;
  readonly #internalToken: InternalToken | undefined;
  readonly #moreTex: MoreTex | undefined;
  readonly #passwordCost: PasswordCost | undefined;
  /** With the other machines of a database. */
  readonly #comparison: Comparison | undefined;
  #certificate: Certificate | undefined;
  #graceMs = 0;
  /** Stops the started parts in reverse order. */
  readonly #started = new Teardown();

  constructor(
    config: Config,
    logger: Logger,
    {
      internalToken,
      moreTex,
      passwordCost,
    }: { internalToken?: InternalToken; moreTex?: MoreTex; passwordCost?: PasswordCost } = {},
  ) {
    this.#config = config;
    this.#moreTex = moreTex;
    this.#passwordCost = passwordCost;
    this.#logger = this.#faults.watch(logger);
    this.#internalToken = internalToken;
    this.#comparison = config.databaseUrl === undefined ? undefined : new Comparison(this.#logger);
  }

  /**
   * Listens before it warms up the renderer, which detects a port in use early; until the service is ready,
   * `/health/ready` and render requests are answered with 503. If it fails or `signal` is aborted, stops everything.
   */
  async start({ signal }: { signal?: AbortSignal } = {}): Promise<StartedAppliance> {
    try {
      const traces = await startTraces(process.env, this.#logger);
      // First, so that it stops last, with the spans of what has ended.
      this.#started.defer(() => traces?.stop());
      const webhookAuthorities = await readWebhookAuthorities(this.#config);
      let listening: HttpServer | undefined;
      const comparison = this.#comparison;
      const installation = await openInstallation(
        this.#config,
        {
          assetUrl: () => listening?.addresses.assetUrl() ?? configuredAssetUrl(this.#config),
          publicUrl: () => listening?.addresses.publicUrl() ?? configuredPublicUrl(this.#config),
          logger: this.#logger,
          readiness: () => listening?.readiness(),
          faults: this.#faults,
          ...(this.#moreTex && { tex: this.#moreTex.installation }),
          ...(comparison && { heldBack: () => comparison.heldBack }),
          ...(signal && { signal }),
          ...(webhookAuthorities !== undefined && { webhookAuthorities }),
        },
        { serves: true, passwordCost: this.#passwordCost },
      );
      this.#started.defer(() => installation.close());
      await this.#openAdministration(installation);
      const { service } = installation;
      const keyUses = new KeyUses({ store: installation.place.keyUseStore, logger: this.#logger });
      const keyRate = new KeyRate(this.#config.maxRequestsPerSecondPerKey);
      const authenticate = authenticator({ ...installation, keyUses, keyRate }, this.#internalToken);
      await this.#openCertificate();
      const certificate = this.#certificate;
      // Slow to load, and needed by `serve` only.
      const { createServer } = await import('../http/server.ts');
      const http = await createServer({
        config: this.#config,
        service,
        authenticate,
        signIn: await this.#signIn(installation),
        logger: this.#logger,
        metrics: installation.metrics,
        installation: this.#config.dashboard === 'on' ? installation : undefined,
        certificate,
        warnings: () => [
          ...(certificate?.warnings() ?? []),
          ...(comparison?.warnings ?? []),
          ...(this.#moreTex?.warnings() ?? []),
          ...(installation.backups?.state().warnings ?? []),
        ],
        bucket: installation.bucket,
        isTraced: traces !== undefined,
      });
      installation.metrics.start({
        hapi: http.hapi,
        connections: http.connections.counts,
        certificateEndMs: () => certificate?.notAfterMs,
      });
      listening = http;
      this.#started.defer(() => service.stop());
      const machine = await this.#report(installation, http);
      keyUses.start();
      // Before the service stops, because that closes the stores.
      this.#started.defer(() => keyUses.stop());
      await this.#listen(http);
      this.#started.defer(() => http.hapi.stop({ timeout: REQUESTS_GRACE_MS }));
      // HTTP stays up during the drain: clients can follow their renders, and `/health/ready` reports it.
      this.#started.defer(() => service.drain({ graceMs: this.#graceMs }));
      this.#started.defer(() => http.draining.begin(REQUESTS_GRACE_MS));
      await service.start(signal ? { signal } : {});
      signal?.throwIfAborted();
      await machine?.report();
      installation.backups?.start();
      this.#started.defer(() => installation.backups?.stop());
      if (usesSecrets(this.#config)) this.#completeRotation(installation);
      return { ...http, service, installation, drainRequested: machine?.drainRequested ?? NEVER };
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Reloads the certificate. */
  async reload(): Promise<void> {
    await this.#certificate?.reload();
  }

  /**
   * Rejects new renders, answers pending requests and lets running renders finish within the grace period, by default the
   * configured one.
   */
  async stop({ graceMs = this.#config.drainSeconds * 1000 }: { graceMs?: number } = {}): Promise<void> {
    this.#graceMs = graceMs;
    await this.#started.run();
  }

  async #openAdministration({ place, administrationFor }: Installation): Promise<void> {
    const administration = administrationFor(COMMAND_LINE);
    const socket = new AdminSocket({ folder: place.path, administration, logger: this.#logger });
    await socket.start();
    this.#started.defer(() => socket.stop());
  }

  /** Reports this process to the others, until its stores close. */
  async #report(
    { place, service, accounts }: Installation,
    { draining }: HttpServer,
  ): Promise<OwnMachine | undefined> {
    if (!place.machineStore || !this.#comparison) return undefined;
    const machine = new OwnMachine({
      store: place.machineStore,
      openStore: () => place.storage.start(),
      service,
      config: this.#config,
      ...(this.#config.roles.includes('api') && { told: () => accountsReport(accounts) }),
      comparison: this.#comparison,
      isDraining: () => draining.hasBegun,
      logger: this.#logger,
    });
    await machine.start();
    this.#started.defer(() => machine.stop());
    // A move that began before the report has not seen this machine.
    await place.refuseMoved?.();
    return machine;
  }

  /** Runs in the background: until it completes, both master keys are valid. */
  #completeRotation({ administration }: Installation): void {
    administration.data.completeRotation().catch((err: unknown) => {
      this.#logger.warn({ err }, 'An interrupted rotation of the master key could not be completed.');
    });
  }

  /** Undefined without an issuer. */
  async #signIn({ accounts }: Installation): Promise<SignIn | undefined> {
    const address = await configuredIssuer(this.#config);
    if (!address) return undefined;
    const { oidcAudience: audience } = this.#config;
    return new SignIn({ ...address, audience, accounts, logger: this.#logger, clock: systemClock });
  }

  async #openCertificate(): Promise<void> {
    const { tlsCert: certFile, tlsKey: keyFile } = this.#config;
    if (certFile === undefined || keyFile === undefined) return;
    const certificate = new Certificate({ certFile, keyFile, logger: this.#logger });
    await certificate.start();
    this.#started.defer(() => certificate.stop());
    this.#certificate = certificate;
  }

  async #listen({ hapi }: HttpServer): Promise<void> {
    const { host, port } = this.#config;
    try {
      await hapi.start();
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      const remedy = REMEDIES[code ?? ''];
      if (!remedy) throw cause;
      throw new UserError(`Cannot listen on port ${port} of ${host}: ${remedy}.`, { cause });
    }
  }
}

const REMEDIES: Record<string, string | undefined> = {
  EADDRINUSE:
    'another program uses it. Stop that program, or choose another port with --port or SCENEPRESS_PORT',
  EACCES: 'permission denied. Choose a port above 1023 with --port or SCENEPRESS_PORT',
  EADDRNOTAVAIL: 'this machine has no such address. Choose one with --host or SCENEPRESS_HOST',
  ENOTFOUND: "the host name can't be resolved. Choose an address with --host or SCENEPRESS_HOST",
  EAI_AGAIN: "the host name can't be resolved. Choose an address with --host or SCENEPRESS_HOST",
};
