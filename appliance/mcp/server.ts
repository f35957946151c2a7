import { McpServer } from '@modelcontextprotocol/server';
import { VERSION } from '../support/version.ts';
import { addFilesTool } from './files-tool.ts';
import type { McpOptions } from './options.ts';
import { addPlayer } from './player.ts';
import { addRenderTools } from './render-tools.ts';
import { addSceneTools } from './scene-tools.ts';

const INSTRUCTIONS =
  'Renders Manim scenes (Python) to videos. Read the guide first. Then, for each scene: check it, correct what is wrong, ' +
  'inspect it to see what it shows, and render it.';
/** The tools do not change while a server runs. */
const LISTED = { ttlMs: 3_600_000, cacheScope: 'private' } as const;

/** Makes a server for one connection, or for one request over HTTP. */
export function createMcpServer(options: McpOptions): McpServer {
  const server = new McpServer(
    { name: 'scenepress', title: 'Scenepress', version: VERSION },
    {
      instructions: INSTRUCTIONS,
      capabilities: { tools: { listChanged: false } },
      cacheHints: { 'tools/list': LISTED, 'server/discover': LISTED },
    },
  );
  addSceneTools(server, options);
  if (options.isReadOnly) return server;
  addRenderTools(server, options);
  addFilesTool(server, options);
  addPlayer(server, options.engine);
  return server;
}
