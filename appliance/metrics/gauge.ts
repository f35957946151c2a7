import { Gauge, type Registry } from 'prom-client';
import { abortable } from '../../lib/internal.ts';

/** Prefix of all metric names. */
export const PREFIX = 'scenepress_';
/** Ends the help of a metric that is not of the process. Queries take its maximum. */
export const OF_INSTALLATION = 'Every process of the installation reports the same value.';

/** Less than the time that Prometheus gives to a scrape. */
const LONGEST_MS = 3_000;

type Labels<Name extends string> = Record<Name, string>;

/**
 * A gauge whose values are collected on each scrape; label sets that aren't set again disappear. Without the database, the
 * values that come from there are absent, and the others are still exported.
 */
export function gauge<Name extends string>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: Name[],
  collect: (set: (labels: Labels<Name>, value: number) => void) => void | Promise<void>,
): void {
  new Gauge({
    name: `${PREFIX}${name}`,
    help,
    labelNames,
    registers: [registry],
    async collect() {
      this.reset();
      // `reset` sets a gauge without labels to 0, which would be exported.
      this.remove({} as Labels<Name>);
      const values: [Labels<Name>, number][] = [];
      const collecting = (async () => collect((labels, value) => values.push([labels, value])))();
      await abortable(collecting, AbortSignal.timeout(LONGEST_MS)).then(
        () => {
          for (const [labels, value] of values) this.set(labels, value);
        },
        () => {}, // The cause is in the log and in `problems` of /health/ready.
      );
    },
  });
}
