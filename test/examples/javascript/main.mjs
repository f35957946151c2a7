import { service } from './service.mjs';

const code = 'from manim import *\nclass Hello(Scene):\n  def construct(self): self.play(Create(Circle()))';
const { jobId } = await service.enqueue({ owner: 'me', className: 'Hello', quality: 'low', code });
for await (const event of service.follow(jobId)) if (event.type === 'job') console.log(event.job.status);
const { path, contentType, stream } = await service.openArtifact(jobId, 'video.mp4');
stream.destroy();
console.log(contentType, path);
await service.stop();
