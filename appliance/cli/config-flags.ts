import { type Command, Option } from 'commander';
import { type Config, loadConfig } from '../config/config.ts';
import { flagOf, OPTIONS, variableOf } from '../config/options.ts';

/** Every option of the configuration that may be a flag. */
export const ALL_FLAGS: (keyof Config)[] = (Object.keys(OPTIONS) as (keyof Config)[]).filter(
  (name) => !OPTIONS[name].secret,
);

/** What commands need that look after accounts, keys and credits. */
export const ADMINISTRATION_FLAGS: (keyof Config)[] = [
  'dataDir',
  'creditsMode',
  'freeCredits',
  'masterKeyFile',
];

const GROUP = 'Configuration (a flag wins over its variable, that over the file):';

/** Gives a command flags for some options of the configuration. */
export function addConfigFlags(command: Command, names: (keyof Config)[]): Command {
  for (const name of names) {
    const { description, value, schema, defaultText } = OPTIONS[name];
    const notes = [variableOf(name)];
    // Not of Joi's description of the schema, which takes its time: these are hundreds of flags at every start.
    const shown = defaultText ?? schema.validate(undefined).value;
    if (shown !== undefined) notes.push(`default: ${shown}`);
    const flag = value ? `${flagOf(name)} <${value}>` : flagOf(name);
    command.addOption(new Option(flag, `${description} (${notes.join('; ')})`).helpGroup(GROUP));
  }
  const file = 'Configuration file (JSON) with options by name, as in {"port": 80} (SCENEPRESS_CONFIG)';
  return command.addOption(new Option('--config <file>', file).helpGroup(GROUP));
}

/** The configuration of a run: flags, environment, file, defaults. */
export function configOf(flags: Record<string, unknown>): Config {
  return loadConfig({ flags, env: process.env });
}
