import { type McpServer, ResourceNotFoundError, ResourceTemplate } from '@modelcontextprotocol/server';
import type { Engine } from './engine.ts';
import { PLAYER_PAGE } from './player-page.ts';

const EXTENSION = 'io.modelcontextprotocol/ui';
const PLAYER_URI = 'ui://scenepress/player';
const APP_TYPE = 'text/html;profile=mcp-app';

/** In the description of a tool: the app that shows its results (MCP Apps, SEP-1865). */
export const PLAYER_META: Record<string, unknown> = { ui: { resourceUri: PLAYER_URI } };

/** Adds the player, and the videos that it can't load from a server. */
export function addPlayer(server: McpServer, engine: Engine): void {
  server.server.registerCapabilities({
    resources: { listChanged: false },
    extensions: { [EXTENSION]: { mimeTypes: [APP_TYPE] } },
  });
  server.registerResource(
    'player',
    PLAYER_URI,
    { title: 'Player', description: 'Plays a rendered scene, with a timeline.', mimeType: APP_TYPE },
    async () => {
      const ui = { csp: { resourceDomains: await engine.videoOrigins() }, prefersBorder: true };
      return { contents: [{ uri: PLAYER_URI, mimeType: APP_TYPE, text: PLAYER_PAGE, _meta: { ui } }] };
    },
  );
  server.registerResource(
    'video',
    new ResourceTemplate('file://{+path}', { list: undefined }),
    { title: 'Video', description: 'A video that this server has rendered.', mimeType: 'video/mp4' },
    async ({ href }) => {
      const video = await engine.readVideo(href);
      if (!video) throw new ResourceNotFoundError(href);
      const blob = Buffer.from(video).toString('base64');
      return { contents: [{ uri: href, mimeType: 'video/mp4', blob }] };
    },
  );
}
