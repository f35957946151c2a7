import { availableParallelism } from 'node:os';
import { Command, Option } from 'commander';
import { ASPECT_RATIOS, JOB_FORMATS, QUALITY_NAMES } from '../../lib/internal.ts';
import type { UserError } from '../support/user-error.ts';
import { addAudio } from './audio-flags.ts';
import { addConfigFlags } from './config-flags.ts';
import { addExamples } from './describe.ts';
import { addFrameFlags, frameOf } from './frame-flags.ts';
import { addFileFlag } from './given-files.ts';
import { addManimFlags, playRange, readManimFlags, resolution } from './manim-flags.ts';
import { print, printable, printJson } from './output.ts';
import { forgetKeptVideos, hostOwnRenderer } from './own-renderer.ts';
import { addParamFlags } from './param-flags.ts';
import { ProgressLine } from './progress-line.ts';
import { FORMATS, formatsOf, OTHER_ARTIFACTS } from './render-output.ts';
import { type Asked, askedOf, qualityOf, type RenderFlags, wrongUsage } from './render-request.ts';
import {
  chosenScenes,
  type RenderedScene,
  type Running,
  renderScene,
  scenesIn,
  withRendererOf,
} from './render-scenes.ts';
import { addServerFlags } from './server-flags.ts';
import { HOST_VARIABLE, type HostSettings, type Renders } from './warm-renderer.ts';
import { wholeNumber } from './whole-number.ts';

/** `scenepress render FILE [SCENE…]`, `scenepress render FILE…` */
export function renderCommand(): Command {
  const command = addConfigFlags(new Command('render'), 'render')
    .description('Render scenes of a file without a server')
    .argument('<file>', 'Python file; - reads standard input')
    .argument(
      '[scene-or-file...]',
      'scene classes to render, optional if the file defines only one; or further Python files (.py)',
    )
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
    .option(
      '--formats <formats>',
      `what else the frames become, such as gif,webm: ${JOB_FORMATS.filter((name) => name !== 'mp4').join(', ')}`,
      formatsOf,
    )
    .option(
      '--audio <file@place>',
      'sound that the scenes can read, at seconds of the video or at a cue, such as a.mp3@proof, or @ and a file with a JSON array of sounds with their texts; may be repeated',
      addAudio,
    )
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
    .option('-0, --zero_pad <digits>', 'digits of the names of pictures (default: 4)', wholeNumber);
  addServerFlags(addFileFlag(addParamFlags(addFrameFlags(command))), { does: 'render' })
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
    .action(async (file: string, others: string[], flags: RenderFlags) => {
      const settings = process.env[HOST_VARIABLE];
      if (settings) return hostOwnRenderer(JSON.parse(settings) as HostSettings);
      readManimFlags(flags);
      if (flags.watch && file === '-') throw wrongUsage('--watch needs a file.');
      const [files, scenes] = [others.filter(isFile), others.filter((other) => !isFile(other))];
      if (files.length > 0 && scenes.length > 0) throw bothNamed(file, scenes);
      if (files.length === 0) return render(await askedOf(file, scenes, flags));
      const { renderFiles } = await import('./render-files.ts');
      await renderFiles([file, ...files], flags);
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
    [
      'scenepress render scene.py Hello --from-play 7 --to-play 9',
      'a part, with what was on screen before it',
    ],
    ['scenepress render scene.py Hello -t -o hello.webm', 'transparent'],
    ['scenepress render scene.py Hello --param name=Ada', 'a parameter that the scene declares'],
    ['scenepress render scene.py Hello --file data.csv=today.csv', 'the scene reads data.csv'],
    [
      'scenepress render scene.py Hello --formats gif,mov',
      'also a small GIF, and a transparent video for editors',
    ],
    ['scenepress render scene.py Hello -pql --watch', 'and again whenever it is saved, in a page'],
    ['scenepress render scene.py --list', 'list its scenes'],
    ['scenepress render intro.py proof.py -o videos/ --json', 'several files; a line of JSON for each event'],
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
  const { scenes, flags } = asked;
  const progress = new ProgressLine();
  if (flags.flush_cache) await forgetKeptVideos();
  const workers = flags.all || scenes.length > 1 ? availableParallelism() : 1;
  await withRendererOf(asked, { workers, progress }, async (renderer, interrupted) => {
    const once = () => renderOnce(renderer, asked, { progress, interrupted });
    if (!flags.watch) return void (await once());
    const { renderOnSaves } = await import('./render-on-saves.ts');
    await renderOnSaves(asked, once, { progress, interrupted });
  });
}

/** Names of scene classes have no dots. */
function isFile(argument: string): boolean {
  return argument.endsWith('.py');
}

function bothNamed(file: string, scenes: string[]): UserError {
  return wrongUsage(
    `Scenes are those of one file: scenepress render ${file} ${scenes.join(' ')}. Of several files, the only scene of ` +
      'each is rendered, or with --all every one.',
  );
}

/** Renders the scenes that were asked for, or lists those of the file. */
async function renderOnce(renderer: Renders, asked: Asked, running: Running): Promise<RenderedScene[]> {
  const { flags } = asked;
  const { progress, interrupted } = running;
  if (flags.list) {
    printScenes(await scenesIn(renderer, asked, interrupted), flags, progress);
    return [];
  }
  const names = await chosenScenes(renderer, asked, interrupted);
  const results = await Promise.all(names.map((name) => renderScene(renderer, name, asked, running)));
  progress.clear();
  if (flags.json) printJson(names.length === 1 && !flags.all ? results[0] : results);
  return results;
}

function printScenes(scenes: string[], { json }: RenderFlags, progress: ProgressLine): void {
  progress.stop();
  if (json) printJson(scenes);
  else for (const name of scenes) print(printable(name));
}
