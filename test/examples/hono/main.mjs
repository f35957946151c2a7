import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { webHandler } from 'scenepress/web';
import { authenticate } from './authenticate.mjs';
import { service } from './service.mjs';

const app = new Hono();
let url = '';
const handle = webHandler({ service, authenticate, assetUrl: () => `${url}/renders`, basePath: '/renders' });
app.all('/renders/*', (context) => handle(context.req.raw));
serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1' }, ({ port }) => {
  url = `http://127.0.0.1:${port}`;
  console.log(`${url}/renders`);
});
