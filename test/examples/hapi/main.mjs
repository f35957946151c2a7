import hapi from '@hapi/hapi';
import { artifacts, renderApi } from 'scenepress/hapi';
import { authenticate } from './authenticate.mjs';
import { service } from './service.mjs';

// hapi 21.4.10 may answer a malformed request twice, which would end the process.
const server = hapi.server({
  port: Number(process.env.PORT ?? 3000),
  host: '127.0.0.1',
  operations: { cleanStop: false },
});
await server.register([
  { plugin: renderApi, options: { service, authenticate, assetUrl: () => server.info.uri } },
  { plugin: artifacts, options: { service } },
]);
await server.start();
console.log(server.info.uri);
