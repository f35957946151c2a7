import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import { ASPECT_RATIOS, isScenepressError } from '../../lib/index.ts';
import { abortable, QUALITY_NAMES } from '../../lib/internal.ts';
import { flagOf } from '../config/options.ts';
import { interruptible } from '../runtime/interruptible.ts';
import { UserError } from '../support/user-error.ts';
import { shownWork } from '../support/work-times.ts';
import { addConfigFlags } from './config-flags.ts';
import { addExamples } from './describe.ts';
import { wholeNumber } from './job.ts';
import { addManimFlags, playRange, readManimFlags, resolution } from './manim-flags.ts';
import { type Files, remedyOf } from './missing-files.ts';
import { openFile } from './open-file.ts';
import { print, printable, printJson } from './output.ts';
import { hostOwnRenderer, keptVideosFolder, RENDERER_FLAGS, withOwnRenderer } from './own-renderer.ts';
import type { Played } from './player-page.ts';
import { ProgressLine } from './progress-line.ts';
import { RemoteRenderer } from './remote-renderer.ts';
import { checkTargets, FORMATS, OTHER_ARTIFACTS, saveAll, targetsOf } from './render-output.ts';
import { type Asked, askedOf, qualityOf, type RenderFlags, wrongUsage } from './render-request.ts';
import { HOST_VARIABLE, type HostSettings, type Renders } from './warm-renderer.ts';

interface Running {
  progress: ProgressLine;
  interrupted: AbortSignal;
}

const MIB = 1024 * 1024;

/** `scenepress render FILE [SCENE…]` */
export function renderCommand(): Command {
  const command = addConfigFlags(new Command('render'), 'render')
    .description('Render scenes of a file without a server')
    .argument('<file>', 'Python file; - reads standard input')
    .argument('[scene...]', 'scene classes to render; optional if the file defines only one')
    .option(
      '-q, --quality <quality>',
      `quality: ${QUALITY_NAMES.join(', ')}, or the letter that the manim command uses (default: medium)`,
      qualityOf,
    )
    .addOption(new Option('--aspect <ratio>', 'landscape or portrait').choices(ASPECT_RATIOS).default('16:9'))
    .option('-r, --resolution <size>', 'width and height in pixels, such as 1280,720', resolution)
    .option(
      '--fps, --frame_rate <number>',
      'frames per second (default: depends on the quality)',
      wholeNumber,
    )
    .option('-o, --out <file>', 'file or folder/ (default: <scene>.mp4); the extension selects the format')
    .option('--format <format>', `${FORMATS.join(', ')} (default: mp4, or mov if transparent)`)
    .option('-t, --transparent', 'without a background')
    .option('-s, --save_last_frame', 'only the last picture, as PNG; the animations are skipped')
    .option(
      '--at <frame>',
      'only one frame of the video, as PNG: a time in seconds; play:2, the last of that play (the first is 0); or last',
      frameOf,
    )
    .option(
      '-n, --from_animation_number <range>',
      'only these animations: 2, or 2,4; the first is 0',
      playRange,
    )
    .option('--save_sections', 'also a video of each section, in the folder sections/')
    .option('--disable_caching', 'encode all frames again, and keep no video for the next render')
    .option('--flush_cache', 'first remove the videos that were kept for next renders')
    .option('-p, --preview', 'open the result')
    .option(
      '--folder <folder>',
      'folder that the scenes may read: modules, pictures, data (default: that of <file>)',
    )
    .option('--no-folder', 'let the scenes read no files of this machine')
    .option('--seed <number>', 'random seed', wholeNumber)
    .option('--tex_template <file>', 'TeX template, in the folder of the scenes')
    .option('-0, --zero_pad <digits>', 'digits of the names of pictures (default: 4)', wholeNumber)
    .option('--server <url>', 'render by a service elsewhere, with an API key of it')
    .option('--key <key>', 'API key for --server (SCENEPRESS_KEY)')
    .option(
      '--artifacts <url>',
      'where a service has its files, if that is not the address of --server; may be repeated',
      (url: string, others: string[] = []) => [...others, url],
    )
    .option(
      '--watch',
      'render again when a file that the scenes can read is saved, and show the result in a page, until Ctrl-C',
    )
    .option(
      '--keep-warm <minutes>',
      'keep the renderer for the next call (default: 5 in a terminal, else 0)',
      wholeNumber,
    )
    .option('--times', 'also print what the time of each render was spent on')
    .option('-a, --all', 'render all scenes of the file')
    .option('-l, --list', 'list the scenes of the file without rendering')
    .option('--json', 'print JSON')
    .action(async (file: string, scenes: string[], flags: RenderFlags) => {
      const settings = process.env[HOST_VARIABLE];
      if (settings) return hostOwnRenderer(JSON.parse(settings) as HostSettings);
      readManimFlags(flags);
      if (flags.watch && file === '-') throw wrongUsage('--watch needs a file.');
      await render(await askedOf(file, scenes, flags));
    });
  for (const { field, extension, isSavedWithVideo } of OTHER_ARTIFACTS) {
    const what = isSavedWithVideo
      ? `${field} file, if the scene has any (default: ${extension} beside the video)`
      : `also write the ${field} (${extension})`;
    command.option(`--${field} <file>`, what);
  }
  return addExamples(
    addManimFlags(command),
    'scenepress render scene.py Hello -q high -o hello.mp4',
    ['scenepress render scene.py Hello -pql', 'low quality, then open it, as with manim'],
    ['scenepress render scene.py Hello -s -o hello.png', 'only the last picture'],
    ['scenepress render scene.py Hello --at 2.5 -o hello.png', 'only the frame at 2.5 seconds'],
    ['scenepress render scene.py Hello -t -o hello.webm', 'transparent'],
    ['scenepress render scene.py Hello -pql --watch', 'and again whenever it is saved, in a page'],
    ['scenepress render scene.py --list', 'list its scenes'],
    'scenepress render scene.py --all -q low -o videos/',
    ['scenepress render scene.py Hello --aspect 9:16 --thumbnail hello.jpg', 'portrait'],
    ['scenepress render scenes/intro.py --folder .', 'its scenes also read files of the folders above them'],
    [
      'scenepress render scene.py Hello --server https://renders.example.org',
      'by a service, with the key in SCENEPRESS_KEY',
    ],
    ['generate-scene | scenepress render - Hello --json', 'code from standard input'],
  );
}

async function render(asked: Asked): Promise<void> {
  const { folder, scenes, flags, config } = asked;
  const progress = new ProgressLine();
  const cache = keptVideosFolder();
  if (flags.flush_cache && cache !== undefined) await rm(cache, { recursive: true, force: true });
  const workers = flags.all || scenes.length > 1 ? availableParallelism() : 1;
  const work = async (renderer: Renders, interrupted: AbortSignal) => {
    progress.start();
    try {
      const once = () => renderOnce(renderer, asked, { progress, interrupted });
      if (!flags.watch) return void (await once());
      const { renderOnSaves } = await import('./render-on-saves.ts');
      await renderOnSaves(asked, once, { progress, interrupted });
    } finally {
      progress.stop();
    }
  };
  if (asked.server) {
    const unused = [...RENDERER_FLAGS, 'times', 'keepWarm'].filter(
      (name) => name !== 'renderOutputMb' && flags[name] !== undefined,
    );
    if (unused.length > 0)
      process.stderr.write(`No effect on renders by a service: ${unused.map(flagOf).join(', ')}.\n`);
    const remote = new RemoteRenderer(asked.server, config.renderOutputMb * MIB);
    return interruptible((signal) => work(remote, signal));
  }
  const { keepWarm, watch: isLasting = false } = flags;
  await withOwnRenderer({ folder, config, workers, keepWarm, isLasting, progress }, work);
}

/** Reads `2.5`, `play:3` or `last`. */
function frameOf(text: string): NonNullable<RenderFlags['at']> {
  const [, seconds, play] = /^(?:(\d+(?:\.\d+)?)|play:(\d+))$/.exec(text) ?? [];
  if (seconds !== undefined) return Number(seconds);
  if (play !== undefined) return { play: Number(play) };
  if (text === 'last') return text;
  throw new InvalidArgumentError('Expected a time in seconds such as 2.5, play:3, or last.');
}

/** Renders the scenes that were asked for, or lists those of the file. */
async function renderOnce(renderer: Renders, asked: Asked, running: Running): Promise<Played[]> {
  const { file, scenes, format, flags } = asked;
  const { progress, interrupted } = running;
  const inCode = () => scenesIn(renderer, asked, interrupted);
  if (flags.list) {
    printScenes(await inCode(), flags, progress);
    return [];
  }
  const names = scenes.length > 0 ? scenes : chosen(file, await inCode(), flags);
  if (scenes.length === 0)
    for (const className of names) await checkTargets(targetsOf(className, format, flags), format);
  const results = await Promise.all(names.map((name) => renderScene(renderer, name, asked, running)));
  progress.clear();
  if (flags.json) printJson(names.length === 1 && !flags.all ? results[0] : results);
  return results;
}

/** Renders a scene, saves its files, prints their paths and returns the result, as `--json` prints it. */
async function renderScene(
  renderer: Renders,
  className: string,
  asked: Asked,
  { progress, interrupted }: Running,
): Promise<Played & Record<string, unknown>> {
  const { code, request, format, flags, config, made } = asked;
  const rendered = await renderer.render(
    { code, className, ...request },
    {
      signal: interrupted,
      onProgress: progress.show.bind(progress),
      onOutput: progress.write.bind(progress),
    },
  );
  progress.show(null);
  const { status, durationMs, failedBy, diagnosis, output: printed, usage } = rendered;
  const saved = await saveAll(rendered.files, targetsOf(className, format, flags), {
    className,
    format,
    most: config.renderFrames,
  });
  await renderer.discard(rendered);
  const remedy = rendered.error === null ? undefined : remedyOf(rendered.error, asked);
  const error = rendered.error === null ? null : withRemedy(rendered.error, remedy);
  const hint = remedy === undefined ? diagnosis?.hint : undefined;
  if (error !== null) process.exitCode = 1;
  const { output, ...others } = saved;
  made.push(...Object.values(saved).filter((path) => path !== null));
  if (!flags.json) {
    progress.clear();
    if (error !== null)
      process.stderr.write(`${className}: ${printable(hint ? `${error}\nHint: ${hint}` : error)}\n`);
    for (const path of [output, ...Object.values(others)]) if (path) print(path);
    if (flags.times && usage?.workMs)
      process.stderr.write(`${className}: ${shownWork(usage.workMs)}${shownCopies(usage.copiedFrames)}\n`);
  }
  if (flags.preview && output) openFile(output);
  return {
    scene: className,
    status,
    video: output,
    ...others,
    durationMs,
    usage,
    error,
    failedBy,
    diagnosis,
    output: printed,
  };
}

function shownCopies(copiedFrames: number): string {
  if (copiedFrames === 0) return '';
  return `; ${copiedFrames} ${copiedFrames === 1 ? 'frame' : 'frames'} copied from the last video`;
}

async function scenesIn(
  renderer: Renders,
  asked: Files & Pick<Asked, 'code'>,
  signal: AbortSignal,
): Promise<string[]> {
  if (asked.code.length === 0) return [];
  try {
    return await abortable(renderer.scenesOf(asked.code, { signal }), signal);
  } catch (error) {
    if (!isScenepressError(error, 'invalid_request')) throw error;
    throw new UserError(
      `The scenes can't be listed:\n${withRemedy(error.message, remedyOf(error.message, asked))}`,
      {
        cause: error,
      },
    );
  }
}

function withRemedy(error: string, remedy: string | undefined): string {
  return remedy === undefined ? error : `${error}\n${remedy}`;
}

/** Like the `manim` command: all scenes with `--all`, else the only one. */
function chosen(file: string, scenes: string[], { all }: RenderFlags): string[] {
  if (scenes.length === 0) throw new UserError(`${file} defines no scene.`);
  if (all || scenes.length === 1) return scenes;
  throw wrongUsage(
    `${file} defines ${scenes.length} scenes. Name those to render, or use --all:\n${scenes
      .map((name) => `  ${name}`)
      .join('\n')}`,
  );
}

function printScenes(scenes: string[], { json }: RenderFlags, progress: ProgressLine): void {
  progress.stop();
  if (json) printJson(scenes);
  else for (const name of scenes) print(printable(name));
}
