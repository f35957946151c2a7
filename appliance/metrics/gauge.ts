import { Gauge, type Registry } from 'prom-client';

/** What every metric's name begins with. */
export const PREFIX = 'scenepress_';

type Labels<Name extends string> = Record<Name, string>;

/** A gauge whose values are looked up when somebody asks for them; those that aren't set again are gone. */
export function gauge<Name extends string>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: Name[],
  look: (set: (labels: Labels<Name>, value: number) => void) => void | Promise<void>,
): void {
  new Gauge({
    name: `${PREFIX}${name}`,
    help,
    labelNames,
    registers: [registry],
    async collect() {
      this.reset();
      // prom-client sets a gauge without labels to 0 when it is reset, which would be a value.
      this.remove({} as Labels<Name>);
      await look((labels, value) => this.set(labels, value));
    },
  });
}
