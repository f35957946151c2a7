/** `npm run bench -- NAME` runs a benchmark, `npm run bench` lists them. Run nothing else on the machine meanwhile. */
import { bench as render } from './render.ts';
import { bench as sandbox } from './sandbox.ts';
import { bench as scale } from './scale.ts';
import { bench as service } from './service.ts';
import { bench as siege } from './siege.ts';
import { bench as webhooks } from './webhooks.ts';

const BENCHMARKS: Record<string, { about: string; bench: (args: string[]) => Promise<void> }> = {
  render: { about: 'POST to `completed` on a warm service, against `manim render`', bench: render },
  sandbox: { about: 'what the layers of the sandbox cost a job, each and together', bench: sandbox },
  scale: {
    about: 'what start, listings, forgetting, backup, rotation and audit take as jobs grow to a million',
    bench: scale,
  },
  service: {
    about: 'durable POSTs and GETs over HTTP, against the same framework doing nothing',
    bench: service,
  },
  siege: { about: 'an honest account beside ten that attack the service, for an hour', bench: siege },
  webhooks: {
    about: 'deliveries per second to one host and to 1,000, dead ones among them',
    bench: webhooks,
  },
};

const [name, ...args] = process.argv.slice(2);
const chosen = name !== undefined && Object.hasOwn(BENCHMARKS, name) ? BENCHMARKS[name] : undefined;
if (chosen) await chosen.bench(args);
else {
  console.log('npm run bench -- NAME\n');
  for (const [name, { about }] of Object.entries(BENCHMARKS)) console.log(`  ${name.padEnd(12)}${about}`);
  if (name !== undefined) process.exitCode = 2;
}
