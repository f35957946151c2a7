// The same in a Web Worker: `new Worker('worker.mjs', { type: 'module' })`. Keeps the page free while it waits.
import { ScenepressClient } from 'scenepress/client';

addEventListener('message', async ({ data: { url, token, code } }) => {
  const client = new ScenepressClient({ url, key: token });
  const job = await client.render({ className: 'Hello', code });
  if (job.status === 'failed') return postMessage({ error: job.error });
  const video = await client.download(job, 'video');
  postMessage({ video: await video.blob() });
});
