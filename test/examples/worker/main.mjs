// Takes scenes from a queue of yours, here the command line, and renders each exactly once, also after a crash.
import { service } from './service.mjs';

for (const [index, code] of process.argv.slice(2).entries()) {
  const [className = ''] = await service.scenesOf(code);
  const job = await service.enqueue({
    owner: 'worker',
    className,
    code,
    idempotency: { key: `message-${index}` },
  });
  const { status, error } = await service.wait(job.jobId);
  console.log(className, status, error ?? '');
}
await service.stop();
