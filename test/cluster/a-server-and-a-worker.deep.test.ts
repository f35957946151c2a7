import t from 'tap';
import { cluster, newKey } from './machines.ts';

t.test('a worker renders what a server without workers accepts', async (t) => {
  const machines = await cluster(t);
  const server = await machines.start('serve', ['--roles', 'api,sender,upkeep']);
  const worker = await machines.start('worker');
  t.match(worker.stdout(), /runs as worker for postgres:.*\n/);
  t.notMatch(server.stdout() + server.stderr() + worker.stderr(), machines.env['SCENEPRESS_MASTER_KEY']);
  const key = await newKey(machines);
  const answer = await server.post(key, { className: 'Hello', code: 'from manim import *' });
  t.equal(answer.status, 202);
  const { jobId } = (await answer.json()) as { jobId: string };

  const watched = await machines.run(['job', 'watch', jobId]);
  t.equal(watched.code, 0, watched.stderr);
  const job = (await (
    await server.get(`/api/v2/render/${jobId}`, { authorization: `Bearer ${key}` })
  ).json()) as {
    status: string;
    result: { video: string };
  };
  t.match(job, {
    status: 'completed',
    result: { video: `https://render.example.org/artifacts/${jobId}/video.mp4` },
  });
  const video = await server.get(`/artifacts/${jobId}/video.mp4`);
  t.equal(video.status, 200);
  t.equal((await worker.get(`/artifacts/${jobId}/video.mp4`)).status, 404, 'a worker serves no artifacts');
  t.equal((await worker.get('/api/v2/me', { authorization: `Bearer ${key}` })).status, 404, 'nor the API');
  t.equal((await worker.get('/health/ready')).status, 200);
  t.equal((await server.get('/health/ready')).status, 200);

  worker.kill('SIGTERM');
  t.equal(await worker.ended, 0);
  server.kill('SIGTERM');
  t.equal(await server.ended, 0);
});
