import { type Command, Option } from 'commander';
import { type Config, loadConfig } from '../config/config.ts';
import { flagOf, OPTIONS, variableOf } from '../config/options.ts';

/** All options that have a flag. */
export const ALL_FLAGS: (keyof Config)[] = (Object.keys(OPTIONS) as (keyof Config)[]).filter(
  (name) => !OPTIONS[name].secret,
);

/** Options of the connection to a database whose URL is given. */
export const CONNECTION_FLAGS: (keyof Config)[] = [
  'databasePasswordFile',
  'databaseSchema',
  'databaseTls',
  'databaseCa',
  'databaseCert',
  'databaseKey',
];

/** Options of where artifacts are kept. */
export const ARTIFACT_FLAGS: (keyof Config)[] = [
  'artifactDir',
  's3Bucket',
  's3Prefix',
  's3Region',
  's3Endpoint',
  's3PathStyle',
  's3Checksums',
  's3Ca',
  's3AccessKeyId',
  's3SecretAccessKeyFile',
  's3Encryption',
  's3KmsKeyId',
];

/** Options of administrative commands. */
export const ADMINISTRATION_FLAGS: (keyof Config)[] = [
  'dataDir',
  'databaseUrl',
  ...CONNECTION_FLAGS,
  'creditsMode',
  'freeCredits',
  'masterKeyFile',
];

/** The heading of configuration options in the help of a command; its own options are under another one. */
export const CONFIGURATION_GROUP =
  'Configuration (flags take precedence over variables, variables over the file):';

/** Adds flags for configuration options to a command. */
export function addConfigFlags(command: Command, names: (keyof Config)[]): Command {
  for (const name of names) {
    const { description, value, schema, defaultText } = OPTIONS[name];
    const notes = [variableOf(name)];
    // Faster than `schema.describe()`: hundreds of flags are built at every start.
    const shown = defaultText ?? schema.validate(undefined).value;
    if (shown !== undefined) notes.push(`default: ${shown}`);
    const flag = value ? `${flagOf(name)} <${value}>` : flagOf(name);
    command.addOption(
      new Option(flag, `${description} (${notes.join('; ')})`).helpGroup(CONFIGURATION_GROUP),
    );
  }
  const file =
    'Configuration file (JSON) with options by name, in camelCase as in `config show`, e.g. {"dataDir": "/srv/data"} ' +
    '(SCENEPRESS_CONFIG)';
  return command.addOption(new Option('--config <file>', file).helpGroup(CONFIGURATION_GROUP));
}

/** The configuration from flags, environment, file and defaults. */
export function configOf(flags: Record<string, unknown>): Config {
  return loadConfig({ flags, env: process.env });
}
