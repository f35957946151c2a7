import { type Command, Option } from 'commander';
import { type Config, loadConfig } from '../config/config.ts';
import { type FlagSet, flagOf, OPTION_NAMES, OPTIONS, shownDefault, variableOf } from '../config/options.ts';

/** The options that commands have flags for; without a set, all that have flags. */
export function flagsOf(set?: FlagSet): (keyof Config)[] {
  return OPTION_NAMES.filter((name) => {
    const { secret, commands } = OPTIONS[name];
    return !secret && (set === undefined || commands.includes(set));
  });
}

/** The heading of configuration options in the help of a command; its own options are under another one. */
export const CONFIGURATION_GROUP =
  'Configuration (flags take precedence over variables, variables over the file):';

/** Adds the flags of a set, or all, to a command. */
export function addConfigFlags(command: Command, set?: FlagSet): Command {
  for (const name of flagsOf(set)) {
    const option = OPTIONS[name];
    const description = option.description.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1');
    const value = option.unit ?? option.value;
    command.addOption(
      new Option(
        option.value === undefined ? flagOf(name) : `${flagOf(name)} <${value}>`,
        `${description} (${variableOf(name)}; default: ${shownDefault(option)})`,
      ).helpGroup(CONFIGURATION_GROUP),
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
