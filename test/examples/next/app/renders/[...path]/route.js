import { routeHandlers, webHandler } from 'scenepress/web';
import { authenticate } from '../../../authenticate.mjs';

const assetUrl = `${process.env.PUBLIC_URL ?? 'http://127.0.0.1:3000'}/renders`;
let handler;

/** Not at import: `next build` imports routes, too, and would start the service. */
async function start() {
  const { service } = await import('../../../service.mjs');
  return webHandler({ service, authenticate, assetUrl, basePath: '/renders' });
}

export const { GET, HEAD, OPTIONS, POST } = routeHandlers(async (request) => {
  handler ??= start();
  return (await handler)(request);
});
