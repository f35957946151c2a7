import { Command, Option } from 'commander';
import { interruptible } from '../runtime/interruptible.ts';
import { addConfigFlags } from './config-flags.ts';
import { addExamples } from './describe.ts';
import { type EngineFlags, explain, note, ownEngine, remoteEngine } from './mcp-engines.ts';
import { addServerFlags, serverOf } from './server-flags.ts';
import { wholeNumber } from './whole-number.ts';

interface McpFlags extends EngineFlags {
  imageResponses: 'allow' | 'omit';
  readOnly?: boolean;
  wait?: number;
}

/** `scenepress mcp` */
export function mcpCommand(): Command {
  const command = addServerFlags(addConfigFlags(new Command('mcp'), 'render'), {
    does: 'check, inspect and render',
  })
    .description(
      'Serve an MCP client over standard input and output: tools that check, inspect and render scenes',
    )
    .option('--output-dir <folder>', 'folder for videos: <scene>.mp4, and captions beside it (default: .)')
    .option(
      '--folder <folder>',
      'folder that the scenes may read: modules, pictures, data; with --server: of files to keep there (default: none)',
    )
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
    [
      'scenepress mcp --server https://renders.example.org',
      'by a service, with the key in SCENEPRESS_KEY; videos are links',
    ],
    ['scenepress mcp --read-only', 'for clients that only need to know what is wrong with a scene'],
  );
}

async function serveMcp({ imageResponses, readOnly = false, wait, ...flags }: McpFlags): Promise<void> {
  const server = serverOf(flags);
  const { engine, scopes, stop } = server ? await remoteEngine(server, flags) : ownEngine(flags);
  const options = {
    ...{ engine, scopes, explain, isReadOnly: readOnly, hasPictures: imageResponses === 'allow' },
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
      await stop();
    }
  });
}
