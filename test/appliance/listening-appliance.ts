import { type IncomingHttpHeaders, request } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pino } from 'pino';
import type { Test } from 'tap';
import { Appliance } from '../../appliance/app/appliance.ts';
import type { Installation } from '../../appliance/app/installation.ts';
import { type Config, loadConfig } from '../../appliance/config/config.ts';
import type { RenderService } from '../../lib/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

export const IDLE_PYTHON: string = join(import.meta.dirname, 'idle-renderer', 'bin', 'python');

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  bytes: Buffer;
  /** The body, parsed. */
  json: Record<string, unknown>;
}

export interface Request {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

/** An appliance that listens on a port. Its renders never begin unless `renders` is set. */
export interface ListeningAppliance {
  url: string;
  port: number;
  installation: Installation;
  service: RenderService;
  /** Resolves when the machine is to drain. */
  drainRequested: Promise<void>;
  dataDir: string;
  /** A live key with credits. */
  key: string;
  /** The log so far. */
  log: () => string;
  /** Sends a request as given: its path is not normalised, and only headers that HTTP requires are added. */
  ask: (path: string, request?: Request) => Promise<Answer>;
  /** Sends a request with a key. */
  askAs: (key: string, path: string, request?: Request) => Promise<Answer>;
  /** POSTs a body to the render endpoint with the live key. */
  post: (body: unknown, headers?: Record<string, string>) => Promise<Answer>;
  newKey: (email: string, webhookUrl?: string) => Promise<string>;
  stop: () => Promise<void>;
}

export async function listeningAppliance(
  t: Test,
  { renders = false, ...options }: Partial<Config> & { renders?: boolean } = {},
): Promise<ListeningAppliance> {
  const dataDir = options.dataDir ?? (await temporaryFolder(t));
  const defaults = loadConfig({
    flags: {
      port: 0,
      dataDir,
      workers: 1,
      ...(!renders && { python: IDLE_PYTHON, insecureNoSandbox: true }),
    },
    env: {},
  });
  const lines: string[] = [];
  const logger = pino({ level: 'debug' }, { write: (line: string) => lines.push(line) });
  const appliance = new Appliance({ ...defaults, drainSeconds: 0, ...options }, logger, {
    passwordCost: { log2: 4, blocks: 8, parallel: 1 }, // By default, most of the time of these tests goes into it.
  });
  const { hapi, installation, service, drainRequested } = await appliance.start();
  t.teardown(() => appliance.stop());

  const { administration } = installation;
  const newKey = async (email: string, webhookUrl?: string) => {
    const { accounts } = await administration.accounts.list({ text: email });
    if (!accounts.some((account) => account.email === email)) await administration.accounts.create({ email });
    return (await administration.keys.create({ account: email, name: 'Test', webhookUrl })).key;
  };
  const key = await newKey('ada@example.org');
  if (options.creditsMode !== 'unmetered') {
    await administration.credits.grant({ account: 'ada@example.org', paid: 1_000_000 });
  }

  const port = Number(hapi.info.port);
  const ask = (path: string, request: Request = {}) => send(port, path, request);
  const askAs = (key: string, path: string, { headers, ...request }: Request = {}) =>
    ask(path, { ...request, headers: { authorization: `Bearer ${key}`, ...headers } });
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    installation,
    service,
    drainRequested,
    dataDir,
    key,
    log: () => lines.join(''),
    ask,
    askAs,
    post: (body, headers = {}) =>
      askAs(key, '/api/v2/render', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
      }),
    newKey,
    stop: () => appliance.stop(),
  };
}

/** Sends a request to a local port. */
export async function send(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body }: Request,
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const message = request({ host: '127.0.0.1', port, path, method, headers, agent: false });
  message.once('error', reject);
  message.once('response', (response) => {
    buffer(response).then((bytes) => {
      const text = bytes.toString();
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        bytes,
        text,
        get json() {
          return JSON.parse(text) as Record<string, unknown>;
        },
      });
    }, reject);
  });
  message.end(body);
  return promise;
}

/** A valid request. */
export const VALID = { code: 'from manim import *', className: 'Scene1' };
