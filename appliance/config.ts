import { readFileSync } from 'node:fs';
import { type Config, flagOf, OPTIONS, variableOf } from './options.ts';
import { UserError } from './user-error.ts';

export type { Config } from './options.ts';

/** Where options come from. */
export interface ConfigSources {
  /** By option name, as the command line gave them; `config` names the configuration file. */
  flags: Record<string, unknown>;
  env: Record<string, string | undefined>;
}

/**
 * The configuration: flags beat environment variables, those beat the configuration file (JSON), that beats
 * defaults. The first value that isn't allowed is an error that names it as it was given.
 */
export function loadConfig({ flags, env }: ConfigSources): Config {
  const [fileFlag, fileVariable] = [flags['config'], env['SCENEPRESS_CONFIG']];
  const path = typeof fileFlag === 'string' ? fileFlag : fileVariable;
  const file = path ? readConfigFile(path) : {};

  const config: Record<string, unknown> = {};
  for (const [name, { schema, allowed, secret }] of Object.entries(OPTIONS)) {
    const [given, value] = sourceOf(name, flags, env, file, path);
    const { error, value: checked } = schema.validate(value);
    if (error) {
      const shown = secret ? '' : `, not ${JSON.stringify(value)}`;
      throw new UserError(`${given} must be ${allowed}${shown}.`, { exitCode: 2 });
    }
    if (checked !== undefined) config[name] = checked;
  }
  if ((config['tlsCert'] === undefined) !== (config['tlsKey'] === undefined)) {
    const missing = config['tlsCert'] === undefined ? 'tlsCert' : 'tlsKey';
    throw new UserError(
      `https needs a certificate and its key: give ${flagOf(missing)} (${variableOf(missing)}) too.`,
      { exitCode: 2 },
    );
  }
  return config as unknown as Config;
}

/** The value of an option, with the name of the place that it comes from. */
function sourceOf(
  name: string,
  flags: ConfigSources['flags'],
  env: ConfigSources['env'],
  file: Record<string, unknown>,
  path: string | undefined,
): [given: string, value: unknown] {
  const variable = variableOf(name);
  if (flags[name] !== undefined) return [flagOf(name), flags[name]];
  if (env[variable]) return [variable, env[variable]]; // An empty variable is one that isn't set.
  return [`"${name}" in ${path}`, file[name]];
}

function readConfigFile(path: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    const reason = cause instanceof SyntaxError ? 'it is not JSON' : (cause as Error).message;
    throw new UserError(`The configuration file ${path} can't be read: ${reason}.`, { exitCode: 2, cause });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UserError(`The configuration file ${path} must hold a JSON object.`, { exitCode: 2 });
  }
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(OPTIONS, name));
  if (unknown !== undefined) {
    throw new UserError(
      `"${unknown}" in ${path} is no option. There are: ${Object.keys(OPTIONS).join(', ')}.`,
      { exitCode: 2 },
    );
  }
  return value as Record<string, unknown>;
}
