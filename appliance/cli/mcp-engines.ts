import { LocalRenderer } from '../../lib/index.ts';
import { isScenepressError, KEY_SCOPES, type KeyScope } from '../../lib/internal.ts';
import { flagOf } from '../config/options.ts';
import type { Engine } from '../mcp/engine.ts';
import { LocalEngine } from '../mcp/local-engine.ts';
import { type CommandRendererOptions, withRenderer } from '../runtime/with-renderer.ts';
import { UserError } from '../support/user-error.ts';
import { configOf } from './config-flags.ts';
import { keptVideosFolder, RENDERER_FLAGS } from './own-renderer.ts';
import { ofTools, RemoteService, willPass } from './remote-service.ts';
import { folderOf } from './render-request.ts';
import { RendererOnDemand } from './renderer-on-demand.ts';
import { refuseWithServer, type Server, type ServerFlags } from './server-flags.ts';

/** The flags of `scenepress mcp` about what renders. */
export interface EngineFlags extends ServerFlags, Record<string, unknown> {
  outputDir?: string;
  folder?: string;
}

/** What renders for the tools. */
export interface McpEngine {
  engine: Engine;
  /** What the key may do; undefined: everything. */
  scopes?: readonly KeyScope[] | undefined;
  /** Ends its renders. */
  stop: () => Promise<void>;
}

/** An agent that works on several scenes asks for them at the same time. */
const WORKERS = 2;
/** Clients keep the command running for days. */
const IDLE_MS = 10 * 60_000;
/** Contact sheets and thumbnails have at most 200 kB. */
const MOST_PICTURE_BYTES = 2 * 1024 * 1024;
/** Calls are given up earlier by clients. */
const ANSWER_MS = 290_000;
/** The client waits for the tools. */
const FIRST_ANSWER_MS = 10_000;
const ATTEMPTS = 3;

/** A renderer of this machine. */
export function ownEngine({ outputDir = '.', folder, ...flags }: EngineFlags): McpEngine {
  const config = configOf(flags);
  const sceneFolder = folder === undefined ? null : folderOf('-', { folder });
  const cacheFolder = keptVideosFolder();
  const make = (options: CommandRendererOptions) =>
    new LocalRenderer({
      ...options,
      workers: WORKERS,
      ...(sceneFolder && { sceneFolder }),
      ...(cacheFolder !== undefined && { cacheFolder }),
    });
  const say = (words: string | null) => words !== null && note(words);
  const renderer = new RendererOnDemand((use) => withRenderer(config, make, use, { say, lasting: true }), {
    idleMs: IDLE_MS,
  });
  const engine = new LocalEngine({ useRenderer: (work) => renderer.use(work), folder: outputDir });
  const stop = async () => {
    await engine.stop();
    await renderer.stop();
  };
  return { engine, stop };
}

/** A service. Error: for a key that is not valid, or a service without a tools API. */
export async function remoteEngine(server: Server, flags: EngineFlags): Promise<McpEngine> {
  refuseWithServer({
    '--output-dir': flags.outputDir,
    ...Object.fromEntries(RENDERER_FLAGS.map((name) => [flagOf(name), flags[name]])),
  });
  // Its schemas are slow to load, and not needed with a renderer of this machine.
  const { RemoteEngine } = await import('./remote-engine.ts');
  const serviceOf = (http: { timeoutMs: number; attempts: number }) =>
    new RemoteService(server, { mostBytes: MOST_PICTURE_BYTES, ...http });
  const scopes = await scopesOf(serviceOf({ timeoutMs: FIRST_ANSWER_MS, attempts: 1 }));
  const origins = [server.url, ...server.artifacts].map((address) => new URL(address).origin);
  const service = serviceOf({ timeoutMs: ANSWER_MS, attempts: ATTEMPTS });
  const engine = new RemoteEngine(service, { origins: [...new Set(origins)], note, folder: flags.folder });
  return { engine, scopes, stop: async () => {} };
}

/** What the key may do; undefined if the service can't be reached now. */
async function scopesOf(service: RemoteService): Promise<readonly KeyScope[] | undefined> {
  try {
    const { scopes } = await service.call(({ client, signal }) => ofTools(client.describeKey({ signal })));
    return KEY_SCOPES.filter((scope) => scopes.includes(scope));
  } catch (error) {
    if (!willPass(error)) throw error;
    note(`${(error as Error).message} The tools are listed as for a key that may do everything.`);
    return undefined;
  }
}

/** Messages for people: standard output is for the client. */
export function note(text: string): void {
  process.stderr.write(`scenepress: ${text}\n`);
}

/** The client is of the user of this machine: it may know what went wrong. */
export function explain(error: unknown): string {
  if (isScenepressError(error) || error instanceof UserError) return error.message;
  note(String((error as Error).stack));
  return 'The program failed. Its standard error has the cause.';
}
