import { OUTPUTS, schemaOf } from '../../appliance/cli/schemas/outputs.ts';
import { violations } from './json-schema.ts';

const SCHEMAS = new Map([...OUTPUTS.keys()].map((command) => [command, schemaOf(command) ?? {}]));

/** Throws if what a command has printed with `--json` doesn't match its schema, in Joi or as JSON Schema. */
export function assertMatchesSchema(args: string[], stdout: string): void {
  if (!args.includes('--json') || args.includes('--help') || stdout === '') return;
  const command = commandOf(args);
  const schema = SCHEMAS.get(command);
  if (!schema) throw new Error(`${command} --json has no schema`);
  for (const value of valuesIn(stdout)) {
    const { error } = OUTPUTS.get(command)?.validate(value, { convert: false, abortEarly: false }) ?? {};
    const found = [...(error ? [error.message] : []), ...violations(schema, value)];
    if (found.length > 0)
      throw new Error(`${command} --json: ${found.join('; ')}\n${JSON.stringify(value, null, 2)}`);
  }
}

/** The one or two words that name the command. */
function commandOf(args: string[]): string {
  const [first = '', second = ''] = args.filter((arg) => !arg.startsWith('-'));
  return SCHEMAS.has(first) ? first : `${first} ${second}`;
}

/** One document, or a line each. */
function valuesIn(stdout: string): unknown[] {
  const lines = stdout.trimEnd().split('\n');
  return lines.length > 1 && lines.every((line) => /^\{.*\}$/.test(line))
    ? lines.map((line) => JSON.parse(line))
    : [JSON.parse(stdout)];
}
