import { Command, Option } from 'commander';
import type { CheckedSource, Finding } from '../../lib/index.ts';
import { ASPECT_RATIOS, QUALITY_NAMES } from '../../lib/internal.ts';
import { askAboutScenes, type CheckFlags, type Place } from './ask-about-scenes.ts';
import { addConfigFlags } from './config-flags.ts';
import { addExamples } from './describe.ts';
import { remedyOf } from './missing-files.ts';
import { print, printable, printJson } from './output.ts';
import { addParamFlags } from './param-flags.ts';
import { qualityOf } from './render-request.ts';
import { addServerFlags } from './server-flags.ts';
import { wholeNumber } from './whole-number.ts';

const LONGEST_LINE = 200;

/** `scenepress check FILE [SCENE]` */
export function checkCommand(): Command {
  const command = addServerFlags(addSceneFlags(new Command('check')), { does: 'check', hasFiles: false })
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
    [
      'scenepress check scene.py --server https://renders.example.org',
      'by a service, with the key in SCENEPRESS_KEY',
    ],
  );
}

/** Adds the file, the scene, and for which render it is looked at. */
export function addSceneFlags(command: Command): Command {
  return addParamFlags(addConfigFlags(command, 'render'))
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
  await askAboutScenes(file, className, flags, async (asks, { code, question, place, done }) => {
    const checked = await asks.check(code, { ...question, dryRun: flags.run });
    done();
    if (flags.json) printJson(checked);
    else printFound(place, new TextDecoder().decode(code), checked);
    if (!checked.ok) process.exitCode = 1;
  });
}

/** Prints findings, and the length of scenes. */
export function printFound(
  of: Place,
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
    print(
      `${printable(className)}: ${plays.length} ${plays.length === 1 ? 'play' : 'plays'}, ${seconds.toFixed(1)} s`,
    );
}

/** As compilers print what they find, with the line and a mark beneath it. */
function shownFinding({ file, ...files }: Place, finding: Finding, code: string[]): string {
  const { kind, severity, message, line, column } = finding;
  const hint = remedyOf(message, files) ?? finding.hint;
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
