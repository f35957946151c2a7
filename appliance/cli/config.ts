import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { Command } from 'commander';
import {
  type Config,
  configFileOf,
  problemsOf,
  readKnownSettings,
  readSettings,
  type Setting,
  unknownNames,
} from '../config/config.ts';
import { OPTIONS, shownDefault, shownValue, variableOf } from '../config/options.ts';
import { addConfigFlags } from './config-flags.ts';
import { addExamples } from './describe.ts';
import { counted, print, printJson, printTable } from './output.ts';

type Flags = { json?: boolean } & Record<string, unknown>;

/** Variables that aren't options. */
const OTHER_VARIABLES = ['SCENEPRESS_CONFIG', 'SCENEPRESS_SETUP_PYTHON', 'SCENEPRESS_EXTRA_TEX'];
const HIDDEN = '(hidden)';

/** `scenepress config …` */
export function configCommand(): Command {
  const config = new Command('config').description('Show and check the configuration');
  addExamples(config, 'scenepress config show', 'scenepress config check --config /etc/scenepress.json');

  config.addCommand(
    describedAs(
      'show',
      'Show every option with its value and source; secrets are hidden',
      ['scenepress config show'],
      (flags) => {
        const shown = readSettings(sourcesOf(flags)).map(shownSetting);
        if (flags.json) printJson(shown);
        else
          printTable(
            ['OPTION', 'VALUE', 'FROM'],
            shown.map(({ option, value, source }) => [option, textOf(option, value), source]),
          );
      },
    ),
  );

  config.addCommand(
    describedAs(
      'check',
      'Report all problems of the configuration; exit code 2 if there are any',
      ['scenepress config check --config /etc/scenepress.json'],
      async (flags) => {
        const settings = readKnownSettings(sourcesOf(flags));
        const problems = [
          ...unknownNames(sourcesOf(flags)),
          ...problemsOf(settings),
          ...(await missingFiles(settings)),
          ...unknownVariables(process.env),
        ];
        const file = configFileOf(sourcesOf(flags)) ?? null;
        if (flags.json) printJson({ file, problems });
        else if (problems.length > 0) print(problems.join('\n'));
        else {
          const set = given(settings);
          const others = settings.length - set;
          print(`The configuration is valid: ${counted(set, 'option')} set, ${others} at their defaults.`);
        }
        if (problems.length > 0) process.exitCode = 2;
      },
    ),
  );

  return config;
}

/** A setting for display; the values of secrets are hidden. */
export function shownSetting({ name, value, source }: Setting): {
  option: keyof Config;
  value: unknown;
  source: Setting['source'];
} {
  const { secret, shown } = OPTIONS[name];
  if (value === undefined || value === null) return { option: name, value: null, source };
  return { option: name, value: secret ? HIDDEN : (shown?.(String(value)) ?? value), source };
}

function describedAs(
  name: string,
  description: string,
  examples: string[],
  action: (flags: Flags) => void | Promise<void>,
): Command {
  const command = addConfigFlags(new Command(name))
    .description(description)
    .option('--json', 'print JSON')
    .action(action);
  return addExamples(command, ...examples);
}

function sourcesOf(flags: Flags) {
  return { flags, env: process.env };
}

function textOf(option: keyof Config, value: unknown): string {
  if (value !== null) return shownValue(value);
  return OPTIONS[option].secret ? '' : shownDefault(OPTIONS[option]);
}

function given(settings: Setting[]): number {
  return settings.filter(({ source }) => source !== 'default').length;
}

async function missingFiles(settings: Setting[]): Promise<string[]> {
  const named = settings.filter(({ name, value }) => mustExist(name) && typeof value === 'string');
  const problems = named.map(async ({ name, value }) => {
    const error = await access(String(value), constants.R_OK).then(
      () => undefined,
      (error: NodeJS.ErrnoException) => error,
    );
    const reason = error?.code === 'ENOENT' ? 'which does not exist' : 'which this user may not read';
    return error ? [`${variableOf(name)} (${name}) names ${value}, ${reason}.`] : [];
  });
  return (await Promise.all(problems)).flat();
}

/** True for a file or a folder that must be readable when the service starts. */
function mustExist(name: keyof Config): boolean {
  const { type, mayBeMissing } = OPTIONS[name];
  return (type === 'file' || type === 'folder') && !mayBeMissing;
}

/** Variables with our prefix that aren't options: most likely typing errors. */
function unknownVariables(env: Record<string, string | undefined>): string[] {
  const known = new Set([...Object.keys(OPTIONS).map(variableOf), ...OTHER_VARIABLES]);
  const unknown = Object.keys(env).filter((name) => name.startsWith('SCENEPRESS_') && !known.has(name));
  return unknown.map((name) => `${name} is set, but there is no such option.`);
}
