import { Command, Option } from 'commander';
import {
  ASPECT_RATIOS,
  type AspectRatio,
  type CheckedSource,
  type Finding,
  isScenepressError,
  type Quality,
} from '../../lib/index.ts';
import { QUALITY_NAMES, type SceneFolder } from '../../lib/internal.ts';
import { UserError } from '../support/user-error.ts';
import { addConfigFlags, configOf } from './config-flags.ts';
import { addExamples } from './describe.ts';
import { wholeNumber } from './job.ts';
import { readManimConfig } from './manim-config.ts';
import { remedyOf } from './missing-files.ts';
import { print, printable, printJson } from './output.ts';
import { withOwnRenderer } from './own-renderer.ts';
import { ProgressLine } from './progress-line.ts';
import { folderOf, qualityOf, readCode } from './render-request.ts';
import type { CheckOptions, OwnRenders } from './warm-renderer.ts';
import { whyWithheld } from './withheld-folder.ts';

const LONGEST_LINE = 200;

/** Options of `check` and `inspect`. */
export interface CheckFlags extends Record<string, unknown> {
  quality?: Quality;
  aspect: AspectRatio;
  frame_rate?: number;
  folder?: string | boolean;
  /** Minutes. */
  keepWarm?: number;
  json?: boolean;
  run: boolean;
}

/** `scenepress check FILE [SCENE]` */
export function checkCommand(): Command {
  const command = addSceneFlags(new Command('check'))
    .description('Tell what is wrong with scenes of a file, without rendering them')
    .option('--no-run', 'only read the code, and tell what is certainly wrong in it')
    .option('--json', 'print JSON')
    .action(check);
  command.addHelpText(
    'after',
    '\nExit codes: 0 nothing is wrong, 1 at least one finding is an error, 2 it could not be checked.',
  );
  return addExamples(
    command,
    ['scenepress check scene.py', 'all scenes of the file'],
    ['scenepress check scene.py Hello --json', 'for programs'],
    'generate-scene | scenepress check -',
  );
}

/** Adds the file, the scene, and for which render it is looked at. */
export function addSceneFlags(command: Command): Command {
  return addConfigFlags(command, 'render')
    .argument('<file>', 'Python file; - reads standard input')
    .argument('[scene]', 'scene class (default: all of the file)')
    .option(
      '-q, --quality <quality>',
      `quality of the render that it is for: ${QUALITY_NAMES.join(', ')} (default: medium)`,
      qualityOf,
    )
    .addOption(new Option('--aspect <ratio>', 'landscape or portrait').choices(ASPECT_RATIOS).default('16:9'))
    .option(
      '--fps, --frame_rate <number>',
      'frames per second (default: depends on the quality)',
      wholeNumber,
    )
    .option('--folder <folder>', 'folder that the scenes may read (default: that of <file>)')
    .option('--no-folder', 'let the scenes read no files of this machine')
    .option(
      '--keep-warm <minutes>',
      'keep the renderer for the next call (default: 5 in a terminal, else 0)',
      wholeNumber,
    );
}

async function check(file: string, className: string | undefined, flags: CheckFlags): Promise<void> {
  await askOwnRenderer(file, className, flags, async (renderer, { code, asked, place, done }) => {
    const checked = await renderer.check(code, { ...asked, dryRun: flags.run });
    done();
    if (flags.json) printJson(checked);
    else printFound(place, new TextDecoder().decode(code), checked);
    if (!checked.ok) process.exitCode = 1;
  });
}

/** What a renderer is asked about a file. */
interface Asked {
  code: Uint8Array;
  asked: CheckOptions;
  place: Checked;
  /** Removes the progress line, before anything is printed. */
  done: () => void;
}

/** Calls `work` with a renderer of this machine and the file. Failures of either end the program with exit code 2. */
export async function askOwnRenderer(
  file: string,
  className: string | undefined,
  flags: CheckFlags,
  work: (renderer: OwnRenders, asked: Asked) => Promise<void>,
): Promise<void> {
  const { quality = 'medium', aspect: aspectRatio, frame_rate: fps, keepWarm } = flags;
  const { quality: _, run: __, ...options } = flags;
  const config = configOf(options);
  const found = folderOf(file, flags);
  const withheld = found && typeof flags.folder !== 'string' ? whyWithheld(found.path, config) : null;
  const folder = withheld === null ? found : null;
  const code = await readCode(file);
  const progress = new ProgressLine();
  const scene = {
    ...(className !== undefined && { className }),
    ...{ quality, aspectRatio, config: settingsFor(flags) },
    ...(fps !== undefined && { fps }),
  };
  await withOwnRenderer({ folder, config, workers: 1, keepWarm, progress }, async (renderer, signal) => {
    progress.start();
    const done = () => {
      progress.stop();
      progress.clear();
    };
    const asked = { code, asked: { ...scene, signal }, place: { file, folder, withheld }, done };
    await work(renderer, asked).finally(() => progress.stop());
  }).catch((error: unknown) => {
    if (!isScenepressError(error) && !(error instanceof UserError)) throw error;
    throw new UserError(error.message, { exitCode: 2, cause: error });
  });
}

/** Those of a manim.cfg that scenes see. */
function settingsFor({ quality }: CheckFlags): Record<string, string> {
  const { settings } = readManimConfig(undefined);
  // The units of the frame belong to the size of the configuration.
  if (quality !== undefined) delete settings['frame_width'];
  return settings;
}

interface Checked {
  file: string;
  folder: SceneFolder | null;
  withheld: string | null;
}

/** Prints findings, and the length of scenes. */
export function printFound(
  of: Checked,
  code: string,
  {
    findings,
    scenes,
  }: Pick<CheckedSource, 'findings'> & {
    scenes: Pick<CheckedSource['scenes'][number], 'className' | 'plays' | 'seconds'>[];
  },
): void {
  const lines = code.split(/\r\n|\r|\n/);
  for (const finding of findings) print(shownFinding(of, finding, lines));
  for (const { className, plays, seconds } of scenes)
    print(`${className}: ${plays.length} ${plays.length === 1 ? 'play' : 'plays'}, ${seconds.toFixed(1)} s`);
}

/** As compilers print what they find, with the line and a mark beneath it. */
function shownFinding({ file, ...files }: Checked, finding: Finding, code: string[]): string {
  const { kind, severity, message, line, column } = finding;
  const hint = remedyOf(message, { ...files, server: undefined }) ?? finding.hint;
  const place = [file === '-' ? 'standard input' : file, line, line === null ? null : column];
  const head = `${place.filter((part) => part !== null).join(':')}: ${severity}: ${message} [${kind}]`;
  const lines = [head, ...marked(finding, code), ...(hint === null ? [] : [`  Hint: ${hint}`])];
  return lines.map(printable).join('\n');
}

function marked({ line, endLine, column, endColumn }: Finding, code: string[]): string[] {
  const text = line === null ? undefined : code[line - 1];
  if (text === undefined || text.length > LONGEST_LINE) return [];
  if (column === null || endColumn === null || line !== endLine || endColumn <= column)
    return [`    ${text}`];
  // The space before the mark is as wide as the text, also where that has tabs.
  const before = text.slice(0, column - 1).replaceAll(/[^\t]/g, ' ');
  return [`    ${text}`, `    ${before}${'^'.repeat(endColumn - column)}`];
}
