import type { RequestRoute, Server } from '@hapi/hapi';
import { Counter, Histogram, type Registry } from 'prom-client';
import { PREFIX } from './gauge.ts';

const LATENCY_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30];
const METHODS = new Set(['get', 'head', 'post', 'put', 'patch', 'delete', 'options']);

/** Responses with the same labels. Cached, because prom-client would build a lookup string for each request. */
interface Answers {
  method: string;
  labels: { method: string; route: string; status: number };
  count: number;
  time: Histogram.Internal<string>;
}

/** Counts HTTP requests by route, e.g. `/api/v2/render/{jobId}`, not by actual path. */
export function countRequests(registry: Registry, server: Server): void {
  const registers = [registry];
  const all: Answers[] = [];
  new Counter({
    name: `${PREFIX}http_requests_total`,
    help: 'Answered HTTP requests.',
    labelNames: ['method', 'route', 'status'] as const,
    registers,
    collect() {
      this.reset();
      for (const { labels, count } of all) this.inc(labels, count);
    },
  });
  const latency = new Histogram({
    name: `${PREFIX}http_request_duration_seconds`,
    help: 'Time from the head of a request to the last byte of its response.',
    labelNames: ['method', 'route'] as const,
    buckets: LATENCY_SECONDS,
    registers,
  });
  const ofRoutes = new Map<RequestRoute, Answers[]>();
  server.events.on('response', ({ method, route, raw, info }) => {
    // 499, as in the log: the client disconnected before the response began.
    const status = raw.res.headersSent ? raw.res.statusCode : 499;
    const known = ofRoutes.get(route) ?? [];
    let answers = known.find((some) => some.labels.status === status && some.method === method);
    if (!answers) {
      const labels = { method: METHODS.has(method) ? method.toUpperCase() : 'other', route: route.path };
      answers = { method, labels: { ...labels, status }, count: 0, time: latency.labels(labels) };
      ofRoutes.set(route, [...known, answers]);
      all.push(answers);
    }
    answers.count += 1;
    answers.time.observe(((info.responded || Date.now()) - info.received) / 1000);
  });
}
