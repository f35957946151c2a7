import { readFileSync } from 'node:fs';
import { UserError } from '../support/user-error.ts';
import { combinationProblems } from './combinations.ts';
import { type Config, flagOf, OPTION_NAMES, OPTIONS, variableOf } from './options.ts';

export type { ArtifactConfig, Config, DatabaseConfig } from './options.ts';

/** Sources of options. */
export interface ConfigSources {
  /** Command-line flags by option name; `config` is the path of the configuration file. */
  flags: Record<string, unknown>;
  env: Record<string, string | undefined>;
}

/** One option: its value, the source of the value and any problem with it. */
export interface Setting {
  name: keyof Config;
  /** The validated value, or the given one if it is invalid; undefined if the option is unset and has no default. */
  value: unknown;
  source: 'flag' | 'environment' | 'file' | 'default';
  /** A sentence; null if the value is valid. */
  problem: string | null;
}

/**
 * The configuration. Flags take precedence over environment variables, those over the configuration file (JSON), and
 * that over defaults. Throws a {@link UserError} for the first invalid value.
 */
export function loadConfig(sources: ConfigSources): Config {
  const settings = readSettings(sources);
  const problem = problemsOf(settings)[0];
  if (problem !== undefined) throw new UserError(problem, { exitCode: 2 });
  const given = settings.filter(({ value }) => value !== undefined);
  return Object.fromEntries(given.map(({ name, value }) => [name, value])) as unknown as Config;
}

/**
 * All options, in the order of {@link OPTIONS}. Throws a {@link UserError} if the configuration file can't be read or
 * has an unknown name.
 */
export function readSettings(sources: ConfigSources): Setting[] {
  const [unknown] = unknownNames(sources);
  if (unknown !== undefined) throw new UserError(unknown, { exitCode: 2 });
  return readKnownSettings(sources);
}

/** As {@link readSettings}, but ignores unknown names. */
export function readKnownSettings({ flags, env }: ConfigSources): Setting[] {
  const path = configFileOf({ flags, env });
  const file = path ? readConfigFile(path) : {};
  return OPTION_NAMES.map((name) => {
    const { schema, allowed, secret, shown: part, default: fallback } = OPTIONS[name];
    const { source, given, value } = sourceOf(name, { flags, env, file, path });
    if (value === undefined) return { name, value: fallback, source, problem: null };
    const { error, value: checked } = schema.validate(value);
    const shown = secret || part ? '' : `, not ${JSON.stringify(value)}`;
    const problem = error ? `${given} must be ${allowed}${shown}.` : null;
    return { name, value: error ? value : checked, source, problem };
  });
}

/** A sentence for each unknown name in the configuration file. */
export function unknownNames(sources: ConfigSources): string[] {
  const path = configFileOf(sources);
  const names = path ? Object.keys(readConfigFile(path)) : [];
  return names
    .filter((name) => !Object.hasOwn(OPTIONS, name))
    .map((name) => `"${name}" in ${path} is not an option. ${correctionOf(name)}`);
}

function correctionOf(name: string): string {
  const meant = OPTION_NAMES.find((option) => lettersOf(option) === lettersOf(name));
  return meant === undefined ? `Options are: ${OPTION_NAMES.join(', ')}.` : `Its name is "${meant}".`;
}

/** The same for all spellings: `dataDir`, `data-dir`, `--data-dir`, `SCENEPRESS_DATA_DIR`. */
function lettersOf(name: string): string {
  return name
    .replace(/^SCENEPRESS_/, '')
    .replaceAll(/[-_]/g, '')
    .toLowerCase();
}

/** Problems of single options, then of combinations. */
export function problemsOf(settings: Setting[]): string[] {
  return [...settings.flatMap(({ problem }) => problem ?? []), ...combinationProblems(settings)];
}

/** The path of the configuration file; undefined if none is configured. */
export function configFileOf({ flags, env }: ConfigSources): string | undefined {
  const [flag, variable] = [flags['config'], env['SCENEPRESS_CONFIG']];
  return (typeof flag === 'string' ? flag : variable) || undefined;
}

/** The value of an option, with its source. */
function sourceOf(
  name: string,
  { flags, env, file, path }: ConfigSources & { file: Record<string, unknown>; path: string | undefined },
): { source: Setting['source']; given: string; value: unknown } {
  const variable = variableOf(name);
  if (flags[name] !== undefined) return { source: 'flag', given: flagOf(name), value: flags[name] };
  // An empty variable counts as unset.
  if (env[variable]) return { source: 'environment', given: variable, value: env[variable] };
  const value = file[name];
  return { source: value === undefined ? 'default' : 'file', given: `"${name}" in ${path}`, value };
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
    throw new UserError(`The configuration file ${path} must contain a JSON object.`, { exitCode: 2 });
  }
  return value as Record<string, unknown>;
}
