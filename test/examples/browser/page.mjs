// For a page: bundled by esbuild, Vite or webpack. `token` is one of the user, never a key of yours.
import { ApiError, ScenepressClient } from 'scenepress/client';

export async function show(url, token, code, video, status) {
  const client = new ScenepressClient({ url, key: token });
  try {
    const { jobId } = await client.enqueue({ className: 'Hello', code });
    for await (const event of client.follow(jobId)) {
      if (event.type === 'progress') status(`${event.progress.seconds} s`);
      if (event.type === 'job' && event.job.status === 'completed') video.src = event.job.result.video;
      if (event.type === 'job' && event.job.status === 'failed') status(event.job.error);
    }
  } catch (error) {
    status(error instanceof ApiError ? error.message : 'The network failed.');
  }
}
