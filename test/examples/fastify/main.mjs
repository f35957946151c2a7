import fastify from 'fastify';
import { fastifyPlugin, webHandler } from 'scenepress/web';
import { authenticate } from './authenticate.mjs';
import { service } from './service.mjs';

const app = fastify();
let url = '';
const handle = webHandler({ service, authenticate, assetUrl: () => `${url}/renders`, basePath: '/renders' });
await app.register(fastifyPlugin(handle), { prefix: '/renders' });
app.post('/mine', (request) => request.body); // Other routes parse bodies as before.
url = await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' });
console.log(`${url}/renders`);
