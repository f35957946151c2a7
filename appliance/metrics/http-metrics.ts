import type { RequestRoute, Server } from '@hapi/hapi';
import { Counter, Histogram, type Registry } from 'prom-client';
import { PREFIX } from './gauge.ts';

const LATENCY_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30];
const METHODS = new Set(['get', 'head', 'post', 'put', 'patch', 'delete', 'options']);

/** Found once for each kind of answer: prom-client finds them by text that it would make of every request. */
interface Counters {
  method: string;
  status: number;
  count: Counter.Internal;
  time: Histogram.Internal<string>;
}

/** HTTP requests, by route: `/api/v2/render/{jobId}`, never the path that a client wrote. */
export function countRequests(registry: Registry, server: Server): void {
  const registers = [registry];
  const requests = new Counter({
    name: `${PREFIX}http_requests_total`,
    help: 'HTTP requests that were answered.',
    labelNames: ['method', 'route', 'status'] as const,
    registers,
  });
  const latency = new Histogram({
    name: `${PREFIX}http_request_duration_seconds`,
    help: 'From the head of a request to the last byte of its answer.',
    labelNames: ['method', 'route'] as const,
    buckets: LATENCY_SECONDS,
    registers,
  });
  const ofRoutes = new Map<RequestRoute, Counters[]>();
  server.events.on('response', ({ method, route, raw, info }) => {
    // 499: the client left before its answer began, as in the log.
    const status = raw.res.headersSent ? raw.res.statusCode : 499;
    const known = ofRoutes.get(route) ?? [];
    let counter = known.find((counter) => counter.status === status && counter.method === method);
    if (!counter) {
      const labels = { method: METHODS.has(method) ? method.toUpperCase() : 'other', route: route.path };
      counter = {
        method,
        status,
        count: requests.labels({ ...labels, status }),
        time: latency.labels(labels),
      };
      ofRoutes.set(route, [...known, counter]);
    }
    counter.count.inc();
    counter.time.observe(((info.responded || Date.now()) - info.received) / 1000);
  });
}
