import express from 'express';
import { httpStatusOf } from 'scenepress';
import { nodeHandler, webHandler } from 'scenepress/web';
import { authenticate } from './authenticate.mjs';
import { service } from './service.mjs';

const app = express();
let url = '';
const handle = webHandler({ service, authenticate, assetUrl: () => `${url}/renders`, basePath: '/renders' });
app.use('/renders', nodeHandler(handle));
// A route of your own, with your own session instead of a key.
app.post('/my/cancel/:jobId', async (request, response) => {
  try {
    response.json(await service.cancel(request.params.jobId, { owner: 'ada' }));
  } catch (error) {
    response.status(httpStatusOf(error)).json({ error: String(error) });
  }
});
const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  url = `http://127.0.0.1:${server.address().port}`;
  console.log(`${url}/renders`);
});
