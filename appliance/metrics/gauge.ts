import { Gauge, type Registry } from 'prom-client';

/** Prefix of all metric names. */
export const PREFIX = 'scenepress_';

type Labels<Name extends string> = Record<Name, string>;

/** A gauge whose values are collected on each scrape; label sets that aren't set again disappear. */
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
      await collect((labels, value) => this.set(labels, value));
    },
  });
}
