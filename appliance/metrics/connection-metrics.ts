import { Counter, type Registry } from 'prom-client';
import type { ConnectionCounts } from '../edge/connections.ts';
import { gauge, PREFIX } from './gauge.ts';

/** Reasons for which the server closed connections. */
const REASONS = ['evicted', 'refused', 'stalled'] as const;

/** Connections of the HTTP listener. */
export function countConnections(registry: Registry, counts: Readonly<ConnectionCounts>): void {
  gauge(registry, 'http_connections', 'Open HTTP connections.', [], (set) => set({}, counts.open));
  new Counter({
    name: `${PREFIX}http_connections_closed_total`,
    help: 'Connections evicted for a new one, refused at a limit, or closed because the client did not read.',
    labelNames: ['reason'] as const,
    registers: [registry],
    collect() {
      this.reset();
      for (const reason of REASONS) this.inc({ reason }, counts[reason]);
    },
  });
}
