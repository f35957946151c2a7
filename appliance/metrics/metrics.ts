import type { Server } from '@hapi/hapi';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { RenderService } from '../../lib/index.ts';
import { PROBLEM_PARTS, type Pricing, ScenepressError, type ScheduledBackups } from '../../lib/internal.ts';
import type { ConnectionCounts } from '../edge/connections.ts';
import type { DataPlace } from '../place/data-place.ts';
import { VERSION } from '../support/version.ts';
import { measureBackups } from './backup-metrics.ts';
import { countConnections } from './connection-metrics.ts';
import { countDeliveries } from './delivery-metrics.ts';
import { gauge } from './gauge.ts';
import { countRequests } from './http-metrics.ts';
import { measureQueue } from './queue-metrics.ts';
import { countRenders } from './render-metrics.ts';
import { countCommits } from './storage-metrics.ts';

/** Content type of `/metrics`. */
export const CONTENT_TYPE: string = Registry.PROMETHEUS_CONTENT_TYPE;

/**
 * Prometheus metrics of a running service. Label values come from small fixed sets: no accounts, hosts or addresses.
 * Counters start at zero with the process.
 */
export class Metrics {
  readonly #service: RenderService;
  readonly #place: DataPlace;
  readonly #pricing: Pricing | undefined;
  readonly #backups: ScheduledBackups | undefined;
  #registry: Registry | undefined;

  /** `pricing`: absent in unmetered mode. `backups`: absent if none are scheduled. */
  constructor(options: {
    service: RenderService;
    place: DataPlace;
    pricing?: Pricing | undefined;
    backups?: ScheduledBackups | undefined;
  }) {
    this.#service = options.service;
    this.#place = options.place;
    this.#pricing = options.pricing;
    this.#backups = options.backups;
  }

  /** Starts counting. */
  start(options: {
    hapi: Server;
    connections: Readonly<ConnectionCounts>;
    certificateEndMs: () => number | undefined;
  }): void {
    const registry = new Registry();
    this.#registry = registry;
    const service = this.#service;
    gauge(
      registry,
      'build_info',
      'Always 1; the labels are the versions.',
      ['version', 'node', 'manim', 'python'],
      (set) => {
        const { manim = '', python = '' } = service.status().renderer ?? {};
        set({ version: VERSION, node: process.version, manim, python }, 1);
      },
    );
    gauge(registry, 'ready', 'Whether /health/ready answers 200.', [], (set) => {
      set({}, service.status().ready ? 1 : 0);
    });
    gauge(
      registry,
      'problem',
      'Whether a part of the service keeps it from being ready; /health/ready has the reason and the remedy.',
      ['part'],
      (set) => {
        const problems = new Set(service.status().problems.map(({ part }) => part));
        for (const part of PROBLEM_PARTS) set({ part }, problems.has(part) ? 1 : 0);
      },
    );
    gauge(registry, 'sandbox_info', 'Always 1; the label is the level of the sandbox.', ['level'], (set) => {
      set({ level: service.status().sandbox?.level ?? 'unknown' }, 1);
    });
    gauge(
      registry,
      'book_problems',
      'Problems found by the last audit of the books; absent before the first audit.',
      [],
      (set) => {
        const { bookProblems } = service.status();
        if (bookProblems !== null) set({}, bookProblems);
      },
    );
    gauge(
      registry,
      'tls_certificate_end_timestamp_seconds',
      'Expiry time of the certificate; absent without HTTPS.',
      [],
      (set) => {
        const endMs = options.certificateEndMs();
        if (endMs !== undefined) set({}, endMs / 1000);
      },
    );
    countRenders(registry, service, { place: this.#place, pricing: this.#pricing });
    countDeliveries(registry, service);
    countRequests(registry, options.hapi);
    countConnections(registry, options.connections);
    countCommits(registry, this.#place, service);
    if (this.#backups) measureBackups(registry, this.#backups);
    measureQueue(registry, this.#place, service);
    collectDefaultMetrics({ register: registry });
    // Gauges whose names end in `_total`, like counters; the same values are also exported by type.
    for (const what of ['handles', 'requests', 'resources']) {
      registry.removeSingleMetric(`nodejs_active_${what}_total`);
    }
  }

  /** All metrics in the Prometheus text format. */
  async text(): Promise<string> {
    if (this.#registry) return this.#registry.metrics();
    throw new ScenepressError(
      'not_running',
      'Metrics need a running server: start one with `scenepress serve`.',
    );
  }
}
