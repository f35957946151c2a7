// Takes scenes from a queue of yours, here the command line, and renders each exactly once, also after a crash.
// Usage: main.mjs MESSAGE-ID CODE …
import { service } from './service.mjs';

const messages = process.argv.slice(2);
for (let at = 0; at < messages.length; at += 2) {
  const [id, code] = messages.slice(at, at + 2);
  const [className = ''] = await service.scenesOf(code);
  const job = await service.enqueue({
    owner: 'worker',
    className,
    code,
    // The id that the queue gave the message: the same when it is delivered again.
    idempotency: { key: id },
  });
  const { status, error } = await service.wait(job.jobId);
  console.log(className, status, error ?? '');
}
await service.stop();
