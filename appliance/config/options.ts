import { ARTIFACT_OPTIONS, BACKUP_OPTIONS, DATA_OPTIONS, DATABASE_OPTIONS } from './data-options.ts';
import { JOB_OPTIONS, RENDER_OPTIONS } from './job-options.ts';
import { type OptionType, type OptionValues, optionType, type Range } from './option-types.ts';
import { SERVER_OPTIONS, WEB_OPTIONS } from './server-options.ts';
import { SPEECH_OPTIONS } from './speech-options.ts';

/** The commands with flags for some options. `serve`, `doctor`, `config` and `support-bundle` have flags for all. */
export type FlagSet =
  | 'worker'
  | 'administration'
  | 'installation'
  | 'migrate'
  | 'restore'
  | 'recover'
  | 'render'
  | 'health';

/**
 * An option of the configuration. Its type, its flag and variable, its check, its line in `--help` and its row in
 * `appliance/operations.md` are made from this.
 */
interface Row extends Readonly<Range> {
  /** Without the final period. Only the manual shows its links. */
  readonly description: string;
  readonly type: keyof OptionValues;
  /** Its value if none is given. */
  readonly default?: unknown;
  /** What applies without a value, if there is no default. */
  readonly otherwise?: string;
  /** The unit of its values, or another placeholder than that of its type. */
  readonly unit?: string;
  /** Never shown and has no flag: other processes can read command lines. */
  readonly secret?: true;
  /** For a path: it may name what does not exist when the service starts. */
  readonly mayBeMissing?: true;
  /** Other commands than those of its section. */
  readonly commands?: readonly FlagSet[];
}

export interface ConfigOption extends Row, OptionType {
  readonly commands: readonly FlagSet[];
}

interface Section {
  title: string;
  commands: readonly FlagSet[];
  rows: Readonly<Record<string, Row>>;
}

/** All options, in the sections of the manual. */
export const SECTIONS: readonly Section[] = [
  { title: 'Server', commands: ['worker'], rows: SERVER_OPTIONS },
  { title: 'Data folder and keys', commands: ['worker', 'administration'], rows: DATA_OPTIONS },
  { title: 'HTTPS, browsers and dashboard', commands: [], rows: WEB_OPTIONS },
  { title: 'Backups', commands: [], rows: BACKUP_OPTIONS },
  { title: 'Artifacts', commands: ['worker', 'installation', 'migrate'], rows: ARTIFACT_OPTIONS },
  {
    title: 'Database and machines',
    commands: ['worker', 'administration', 'installation', 'migrate'],
    rows: DATABASE_OPTIONS,
  },
  { title: 'Credits, queue and accounts', commands: ['worker'], rows: JOB_OPTIONS },
  { title: 'Renders', commands: ['worker', 'render'], rows: RENDER_OPTIONS },
  { title: 'Speech', commands: ['worker', 'render'], rows: SPEECH_OPTIONS },
];

type Value<Option> = Option extends { of: readonly (infer Word)[] }
  ? Word
  : Option extends { type: infer Type extends keyof OptionValues }
    ? OptionValues[Type]
    : never;
type Defaulted<Rows> = {
  [Name in keyof Rows]: Rows[Name] extends { default: unknown } ? Name : never;
}[keyof Rows];
type Configured<Rows> = { -readonly [Name in Defaulted<Rows>]: Value<Rows[Name]> } & {
  -readonly [Name in Exclude<keyof Rows, Defaulted<Rows>>]?: Value<Rows[Name]>;
};

export type ArtifactConfig = Configured<typeof ARTIFACT_OPTIONS>;
export type DatabaseConfig = Configured<typeof DATABASE_OPTIONS>;

/** Configuration of the appliance. Option names are the same in code and in the configuration file. */
export type Config = ArtifactConfig &
  DatabaseConfig &
  Configured<
    typeof SERVER_OPTIONS &
      typeof WEB_OPTIONS &
      typeof DATA_OPTIONS &
      typeof BACKUP_OPTIONS &
      typeof JOB_OPTIONS &
      typeof RENDER_OPTIONS &
      typeof SPEECH_OPTIONS
  >;

export const OPTIONS: Readonly<Record<keyof Config, ConfigOption>> = Object.fromEntries(
  SECTIONS.flatMap(({ commands, rows }) =>
    Object.entries(rows).map(([name, row]) => [name, { commands, ...optionType(row.type, row), ...row }]),
  ),
) as Record<keyof Config, ConfigOption>;

export const OPTION_NAMES: readonly (keyof Config)[] = Object.keys(OPTIONS) as (keyof Config)[];

/** The default of an option, or a value of it, as it is shown. */
export function shownDefault({ default: value, otherwise = 'none' }: ConfigOption): string {
  return value === undefined ? otherwise : shownValue(value);
}

export function shownValue(value: unknown): string {
  return typeof value === 'object' && value !== null
    ? Object.values(value).join(',') || 'none'
    : String(value);
}

const words = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toLowerCase();

/** `dataDir`: `--data-dir`. */
export function flagOf(name: string): string {
  return `--${words(name).replaceAll('_', '-')}`;
}

/** `dataDir`: `SCENEPRESS_DATA_DIR`. */
export function variableOf(name: string): string {
  return `SCENEPRESS_${words(name).toUpperCase()}`;
}
