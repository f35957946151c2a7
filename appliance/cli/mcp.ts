import { Command, Option } from 'commander';
import { isScenepressError, LocalRenderer } from '../../lib/index.ts';
import { LocalEngine } from '../mcp/local-engine.ts';
import { interruptible } from '../runtime/interruptible.ts';
import { type CommandRendererOptions, withRenderer } from '../runtime/with-renderer.ts';
import { UserError } from '../support/user-error.ts';
import { addConfigFlags, configOf } from './config-flags.ts';
import { addExamples } from './describe.ts';
import { wholeNumber } from './job.ts';
import { keptVideosFolder } from './own-renderer.ts';
import { folderOf } from './render-request.ts';
import { RendererOnDemand } from './renderer-on-demand.ts';

interface McpFlags extends Record<string, unknown> {
  outputDir: string;
  folder?: string;
  imageResponses: 'allow' | 'omit';
  readOnly?: boolean;
  wait?: number;
}

/** An agent that works on several scenes asks for them at the same time. */
const WORKERS = 2;
/** Clients keep the command running for days. */
const IDLE_MS = 10 * 60_000;

/** `scenepress mcp` */
export function mcpCommand(): Command {
  const command = addConfigFlags(new Command('mcp'), 'render')
    .description(
      'Serve an MCP client over standard input and output: tools that check, inspect and render scenes',
    )
    .option('--output-dir <folder>', 'folder for videos: <scene>.mp4, and captions beside it', '.')
    .option('--folder <folder>', 'folder that the scenes may read: modules, pictures, data (default: none)')
    .addOption(
      new Option('--image-responses <mode>', 'omit: no pictures in results')
        .choices(['allow', 'omit'])
        .default('allow'),
    )
    .option('--read-only', 'only the tools guide and check, which write and cost nothing')
    .option(
      '--wait <seconds>',
      'how long a call waits for a render before it answers with the id of a job (default: 50)',
      wholeNumber,
    )
    .action(serveMcp);
  command.addHelpText(
    'after',
    '\nIt ends when its standard input ends. Messages for people are on standard error.',
  );
  return addExamples(
    command,
    ['scenepress mcp --output-dir ~/Videos', 'as the command of an MCP server in a client’s configuration'],
    ['scenepress mcp --read-only', 'for clients that only need to know what is wrong with a scene'],
  );
}

async function serveMcp({ outputDir, folder, imageResponses, readOnly = false, wait, ...flags }: McpFlags) {
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
  const options = {
    ...{ engine, explain, isReadOnly: readOnly, hasPictures: imageResponses === 'allow' },
    ...(wait !== undefined && { waitMs: wait * 1000 }),
  };
  // Slow to load, and needed by no other command.
  const [{ createMcpServer }, { serveOnStdio }] = await Promise.all([
    import('../mcp/server.ts'),
    import('../mcp/stdio.ts'),
  ]);
  if (process.stdin.isTTY) note('waiting for an MCP client on standard input; Ctrl-C ends it.');
  await interruptible(async (signal) => {
    try {
      await serveOnStdio(() => createMcpServer(options), { signal, onError: ({ message }) => note(message) });
    } finally {
      await engine.stop();
      await renderer.stop();
    }
  });
}

function note(text: string): void {
  process.stderr.write(`scenepress: ${text}\n`);
}

/** The client is on this machine: it may know what went wrong. */
function explain(error: unknown): string {
  if (isScenepressError(error) || error instanceof UserError) return error.message;
  note(String((error as Error).stack));
  return 'The program failed. Its standard error has the cause.';
}
