import { type Command, InvalidArgumentError, Option } from 'commander';
import { UserError } from '../support/user-error.ts';

/** Flags of the `manim` command with another name here. */
const ALIASES: [flags: string, name: string][] = [
  ['--output_file <file>', 'out'],
  ['--write_all', 'all'],
  ['-c, --config_file <file>', 'manimConfig'],
];

/** Flags of the `manim` command that change nothing about the result, and are accepted. */
const WITHOUT_EFFECT = [
  '--write_to_movie',
  '--notify_outdated_version',
  '--silent',
  '--no_latex_cleanup',
  '--progress_bar <kind>',
  '-v, --verbosity <level>',
  '--max-inflight-encoders <number>',
  '--encoder-queue-size <number>',
];

const NO_WINDOW = 'It needs a window and OpenGL; here scenes are drawn by Cairo, into files.';
const ONE_ENCODER = 'The encoder is chosen by the format: --format mp4, webm, mov or gif.';

/** Flags of the `manim` command that have no counterpart, and what to do instead. */
const ANSWERS: [flags: string, answer: string][] = [
  ['--media_dir <folder>', 'Name the file or its folder: -o FOLDER/'],
  ['--video_dir <folder>', 'Name the file or its folder: -o FOLDER/'],
  ['--log_dir <folder>', 'What a scene prints is on standard error: 2> FILE'],
  ['--log_to_file', 'What a scene prints is on standard error: 2> FILE'],
  ['-f, --show_in_file_browser', 'To open the result: -p'],
  ['-i, --save_as_gif', 'Use --format gif'],
  ['-g, --save_pngs', 'Use --format png-sequence'],
  ['--live-preview', 'To render again on each save and open the result: --watch -p'],
  ['--dry_run', 'To check that the file loads, and list its scenes: --list'],
  ['--enable_gui', NO_WINDOW],
  ['--gui_location <place>', NO_WINDOW],
  ['--fullscreen', NO_WINDOW],
  ['--force_window', NO_WINDOW],
  ['--enable_wireframe', NO_WINDOW],
  ['--use_projection_fill_shaders', NO_WINDOW],
  ['--use_projection_stroke_shaders', NO_WINDOW],
  ['--video-codec <name>', ONE_ENCODER],
  ['--pixel-format <name>', ONE_ENCODER],
  ['--encoder-option <option>', ONE_ENCODER],
  ['--preview_command <program>', "The result is opened by the desktop's program: -p"],
  ['--jupyter', 'In a notebook, use the %%manim magic of Manim itself.'],
];

/** Adds Manim's other flags to the command, hidden from its help. */
export function addManimFlags(command: Command): Command {
  const flags = [...ALIASES, ...ANSWERS].map(([flags]) => flags);
  for (const one of [...flags, ...WITHOUT_EFFECT]) command.addOption(new Option(one).hideHelp());
  const renderer = new Option('--renderer <name>').hideHelp().argParser((name) => {
    if (name === 'cairo') return name;
    throw new InvalidArgumentError('Scenes are drawn by Cairo only.');
  });
  return command.addOption(renderer);
}

/** Moves the values of aliases to our flags. Error: for a flag without a counterpart. */
export function readManimFlags(flags: Record<string, unknown>): void {
  for (const [name, answer] of ANSWERS) {
    const option = new Option(name);
    if (flags[option.attributeName()] !== undefined)
      throw new UserError(`${option.long} is a flag of manim that scenepress lacks. ${answer}`, {
        exitCode: 2,
      });
  }
  for (const [name, ours] of ALIASES) {
    const value = flags[new Option(name).attributeName()];
    if (value !== undefined) flags[ours] ??= value;
  }
}

/** `2`, `2,4` or `2-4`: the first and last play. */
export function playRange(text: string): { firstPlay: number; lastPlay: number } {
  const [, first, last] = /^(\d{1,9})(?:[;,-](\d{1,9}))?$/.exec(text) ?? [];
  if (first === undefined)
    throw new InvalidArgumentError('Name the first play, or the first and the last: 2 or 2,4.');
  return { firstPlay: Number(first), lastPlay: last === undefined ? -1 : Number(last) };
}

/** `1280,720` */
export function resolution(text: string): { width: number; height: number } {
  const [, width, height] = /^(\d{1,5})[;,x-](\d{1,5})$/.exec(text) ?? [];
  if (!Number(width) || !Number(height)) throw new InvalidArgumentError('Name width and height: 1280,720.');
  return { width: Number(width), height: Number(height) };
}
