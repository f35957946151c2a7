/** `npm run bench -- NAME` runs a benchmark, `npm run bench` lists them. The machine must be otherwise idle. */
import { bench as check } from './check.ts';
import { bench as cluster } from './cluster.ts';
import { bench as dashboard } from './dashboard.ts';
import { bench as edit } from './edit.ts';
import { bench as encoding } from './encoding.ts';
import { bench as formats } from './formats.ts';
import { bench as inspect } from './inspect.ts';
import { bench as latency } from './latency.ts';
import { bench as loop } from './loop.ts';
import { bench as month } from './month.ts';
import { bench as profile } from './profile.ts';
import { bench as render } from './render.ts';
import { bench as service } from './service.ts';
import { bench as siege } from './siege.ts';
import { bench as together } from './together.ts';
import { bench as waiting } from './waiting.ts';
import { bench as webhooks } from './webhooks.ts';

const BENCHMARKS: Record<string, { about: string; bench: (args: string[]) => Promise<void> }> = {
  check: {
    about: 'how many broken scenes a check finds, with the right place and advice, and how long it takes',
    bench: check,
  },
  cluster: {
    about:
      'jobs per second of several processes on one Postgres, and fairness with 100,000 waiting, beside pg-boss',
    bench: cluster,
  },
  dashboard: {
    about: 'time of every page with 100,000 jobs and 1,000 accounts, and CPU time of 200 open dashboards',
    bench: dashboard,
  },
  edit: {
    about:
      'time of rendering lectures again after an edit, compared with `manim` and with rendering from nothing',
    bench: edit,
  },
  encoding: {
    about: 'CPU time, size and loss of several settings of the encoder, compared with those of Manim',
    bench: encoding,
  },
  formats: {
    about: 'time and size of the other formats of a job, beside those of `manim` in the same run',
    bench: formats,
  },
  inspect: {
    about:
      'how many planted faults of layouts an inspection finds, and blames wrongly, and its time beside a check',
    bench: inspect,
  },
  latency: {
    about: 'time from POST to the first line of a scene, and from its last line to `completed`, by steps',
    bench: latency,
  },
  loop: {
    about:
      'how many broken scenes end in a video if only the replacements of findings are written, beside `manim`',
    bench: loop,
  },
  month: {
    about: 'what a service notices of a month of updates, cleaners, full disks, kills and restarts',
    bench: month,
  },
  profile: {
    about: 'what the time of a scene is spent on, and the functions that take most of it',
    bench: profile,
  },
  render: {
    about:
      'time from POST to `completed` on a warm service, CPU time, memory and size, compared with `manim render`',
    bench: render,
  },
  service: {
    about: 'durable POSTs and GETs over HTTP, compared with the same framework doing nothing',
    bench: service,
  },
  siege: { about: 'service for an honest account during an hour of attacks by ten others', bench: siege },
  together: {
    about: 'time of four different scenes, one after another and posted together',
    bench: together,
  },
  waiting: {
    about: 'CPU time of 500 waits and 200 streams of events, compared with hapi that holds as many requests',
    bench: waiting,
  },
  webhooks: {
    about: 'webhook deliveries per second to one host and to 1,000, including dead ones',
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
