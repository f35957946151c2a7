import { readFile } from 'node:fs/promises';
import type { RenderService } from '../lib/index.ts';
import { AdminSocket } from './admin/admin-socket.ts';
import { Certificate } from './certificate.ts';
import { configuredAssetUrl } from './config/addresses.ts';
import type { Config } from './config/config.ts';
import { authenticator, type HouseToken } from './http/authentication.ts';
import type { HttpServer } from './http/server.ts';
import { type Installation, openInstallation } from './installation.ts';
import type { Logger } from './support/log.ts';
import { UserError } from './user-error.ts';

const REQUESTS_GRACE_MS = 10_000;

/** The service with everything around it: data folder, administration, HTTP. */
export class Appliance {
  readonly #config: Config;
  readonly #logger: Logger;
  readonly #house: HouseToken | undefined;
  #certificate: Certificate | undefined;
  /** What has been started, undone in reverse. */
  #started = new AsyncDisposableStack();

  constructor(config: Config, logger: Logger, { house }: { house?: HouseToken } = {}) {
    this.#config = config;
    this.#logger = logger;
    this.#house = house;
  }

  /**
   * Listens first, so that a port in use is found out before Manim is warmed up; until then `/health/ready` says no
   * and renders are answered with 503. When it fails, or `signal` ends it, nothing is left running.
   */
  async start({
    signal,
  }: {
    signal?: AbortSignal;
  } = {}): Promise<HttpServer & { service: RenderService; installation: Installation }> {
    try {
      const webhookAuthorities = await readAuthorities(this.#config);
      let listening: HttpServer | undefined;
      const installation = await openInstallation(this.#config, {
        assetUrl: () => listening?.addresses.assetUrl() ?? configuredAssetUrl(this.#config),
        logger: this.#logger,
        ...(signal && { signal }),
        ...(webhookAuthorities !== undefined && { webhookAuthorities }),
      });
      this.#started.defer(() => installation.close());
      await this.#openAdministration(installation);
      const { service } = installation;
      const authenticate = authenticator(installation, this.#house);
      await this.#openCertificate();
      const certificate = this.#certificate;
      // Takes its time to load, and commands other than `serve` do without.
      const { createServer } = await import('./http/server.ts');
      const http = await createServer({
        config: this.#config,
        service,
        authenticate,
        logger: this.#logger,
        metrics: installation.metrics,
        certificate,
      });
      installation.metrics.start({
        hapi: http.hapi,
        connections: http.connections.counts,
        certificateEndMs: () => certificate?.notAfterMs,
      });
      listening = http;
      this.#started.defer(() => service.stop());
      await this.#listen(http);
      this.#started.defer(() => http.hapi.stop({ timeout: REQUESTS_GRACE_MS }));
      // Meanwhile clients can follow their renders, and readiness says why there is none.
      this.#started.defer(() => service.drain({ graceMs: this.#config.drainSeconds * 1000 }));
      this.#started.defer(() => http.draining.begin(REQUESTS_GRACE_MS));
      await startUnless(signal, service);
      this.#completeRotation(installation);
      return { ...http, service, installation };
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Takes up what may change while it runs: the certificate. */
  async reload(): Promise<void> {
    await this.#certificate?.reload();
  }

  /** Accepts no more, answers what it is being asked, lets running renders finish within their grace. */
  async stop(): Promise<void> {
    const started = this.#started.move();
    this.#started = new AsyncDisposableStack();
    await started.disposeAsync();
  }

  async #openAdministration({ folder, administration }: Installation): Promise<void> {
    const socket = new AdminSocket({ folder: folder.path, administration, logger: this.#logger });
    await socket.start();
    this.#started.defer(() => socket.stop());
  }

  /** In the background: until it is done, both master keys are valid. */
  #completeRotation({ administration }: Installation): void {
    administration.data.completeRotation().catch((err: unknown) => {
      this.#logger.warn({ err }, 'A rotation of the master key that was cut off could not be completed.');
    });
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
      throw new UserError(`Port ${port} of ${host} can't be listened on: ${remedy}.`, { cause });
    }
  }
}

async function startUnless(signal: AbortSignal | undefined, service: RenderService): Promise<void> {
  signal?.throwIfAborted();
  const stop = () => void service.stop();
  signal?.addEventListener('abort', stop);
  try {
    await service.start();
    // Told too late to end the start: the service is being stopped already.
    signal?.throwIfAborted();
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

async function readAuthorities({ webhooksCa }: Config): Promise<string | undefined> {
  if (webhooksCa === undefined) return undefined;
  const pem = await readFile(webhooksCa, 'utf8').catch((cause: Error) => {
    throw new UserError(`The authorities for webhooks can't be read: ${cause.message}.`, { cause });
  });
  if (pem.includes('-----BEGIN CERTIFICATE-----')) return pem;
  throw new UserError(`${webhooksCa} (webhooksCa) holds no PEM certificate.`);
}

const REMEDIES: Record<string, string | undefined> = {
  EADDRINUSE: 'another program does. Stop it, or choose another port with --port or SCENEPRESS_PORT',
  EACCES: 'this user may not. Choose a port above 1023 with --port or SCENEPRESS_PORT',
  EADDRNOTAVAIL: 'this machine has no such address. Choose one with --host or SCENEPRESS_HOST',
  ENOTFOUND: 'there is no such host. Choose an address with --host or SCENEPRESS_HOST',
  EAI_AGAIN: 'there is no such host. Choose an address with --host or SCENEPRESS_HOST',
};
