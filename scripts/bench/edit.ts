import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { QUALITIES, type Quality } from '../../lib/index.ts';
import { type EditResult, EditTable } from './edit-table.ts';
import { LectureFolder, type Timed } from './lecture-folder.ts';
import { EDITS, type Edit, edited, type Lecture, lectures } from './lectures.ts';
import { qualityOf } from './manim-command.ts';
import { median } from './numbers.ts';
import { runPython } from './python.ts';

/** Frames of a second whose SSIM is computed. */
const COMPARED_PER_SECOND = 15;

/**
 * Renders lectures again after an edit: with `manim` and its cache, with `scenepress render` and its cache, and with
 * `scenepress render` from nothing. Prints times of whole commands, and what the second video has in common with the
 * third.
 */
export async function bench(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      lecture: { type: 'string', multiple: true },
      quality: { type: 'string', multiple: true, default: ['low', 'medium', 'high'] },
      edit: { type: 'string', multiple: true },
      runs: { type: 'string', default: '1' },
      json: { type: 'string' },
      cold: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
    },
  });
  const all = await lectures();
  const names = all.map(({ name }) => name);
  if (values.list) return void console.log(`Lectures: ${names.join(', ')}\nEdits: ${EDITS.join(', ')}`);
  const chosenLectures = chosen(names, values.lecture, 'Lectures');
  const edits = chosen(EDITS, values.edit, 'Edits');
  const qualities = values.quality.map(qualityOf);
  const runs = Number(values.runs);
  if (!Number.isInteger(runs) || runs < 1) throw new Error('--runs needs a number of runs.');
  const stop = stopSignal();
  const table = new EditTable();
  let failures = 0;
  const warmFolder = values.cold ? null : await mkdtemp(join(tmpdir(), 'scenepress-warm-'));
  console.log(introduction(runs, warmFolder !== null));
  table.begin();
  for (const quality of qualities) {
    for (const lecture of all.filter(({ name }) => chosenLectures.includes(name))) {
      if (stop.aborted) break;
      const failed = (what: string) => (error: Error) => {
        if (stop.aborted) return;
        failures += 1;
        console.log(`${what}, ${quality}: ${error.message}`);
      };
      await measure(lecture, quality, { edits, runs, stop, warmFolder, table, failed }).catch(
        failed(lecture.name),
      );
    }
  }
  table.end();
  // Its renderer ends by itself when it has not been called for a while.
  if (warmFolder !== null) await rm(warmFolder, { recursive: true, force: true });
  if (values.json !== undefined) await writeFile(values.json, JSON.stringify(table.results, null, 2));
  if (stop.aborted) console.log('\nStopped before the end.');
  if (failures > 0) console.log(`\n${failures} failed; the means are those of the others.`);
  if (failures > 0 || stop.aborted) process.exitCode = 1;
}

function chosen<Name extends string>(
  known: readonly Name[],
  names: string[] | undefined,
  what: string,
): Name[] {
  for (const name of names ?? [])
    if (!known.some((one) => one === name)) throw new Error(`${what}: ${known.join(', ')}.`);
  return known.filter((name) => !names || names.includes(name));
}

/** On Ctrl-C, ends the running command, prints a summary of the results so far, and removes the folders. */
function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort());
  return controller.signal;
}

function introduction(runs: number, isWarm: boolean): string {
  const times = runs === 1 ? 'One run' : `Medians of ${runs} runs`;
  return [
    `${times}, in seconds, of whole commands. All caches are those of the lecture before the edit.`,
    'manim: again with its cache; edited: scenepress again; nothing: scenepress from nothing. ×: how many times',
    'as fast as manim the edited one is. The rest compares the edited video with the one from nothing: time, size,',
    'the mean and the lowest SSIM, PSNR, and the share of equal frames.',
    isWarm
      ? 'As in a terminal, scenepress keeps its renderer from one command to the next; --cold: it does not.\n'
      : 'Each command of scenepress starts its renderer.\n',
  ].join('\n');
}

interface Options {
  edits: readonly Edit[];
  runs: number;
  stop: AbortSignal;
  warmFolder: string | null;
  table: EditTable;
  failed: (what: string) => (error: Error) => void;
}

/** Measures all edits of a lecture. */
async function measure(lecture: Lecture, quality: Quality, options: Options): Promise<void> {
  const folder = await LectureFolder.create(lecture, quality, options);
  try {
    await folder.save(lecture.code);
    await folder.warm();
    const hasWarmCache = await folder.hasWarmCache();
    for (const edit of options.edits) {
      if (options.stop.aborted) return;
      await folder.save(edited(lecture, edit));
      await rendered(folder, quality, options.runs).then(
        (numbers) =>
          options.table.add({
            lecture: lecture.name,
            is3d: lecture.is3d,
            edit,
            quality,
            hasWarmCache,
            ...numbers,
          }),
        options.failed(`${lecture.name}, ${edit}`),
      );
    }
  } finally {
    await folder.remove();
  }
}

/** What compare.py prints. */
interface Compared {
  frames: [number, number];
  equal: number;
  ssim: number;
  lowestSsim: number;
  psnr: number;
  sameSound: boolean;
}

type Numbers = Omit<EditResult, 'lecture' | 'is3d' | 'edit' | 'quality' | 'hasWarmCache'>;

/** Renders the present code in turns: again with both commands, then from nothing. */
async function rendered(folder: LectureFolder, quality: Quality, runs: number): Promise<Numbers> {
  const all: { manim: Timed; edited: Timed; nothing: Timed }[] = [];
  for (let run = 0; run < runs; run += 1) {
    await folder.restoreCaches();
    const manim = await folder.manim();
    const edited = await folder.scenepress('edited');
    await folder.emptyCache();
    all.push({ manim, edited, nothing: await folder.scenepress('nothing') });
  }
  const last = all.at(-1);
  if (!last) throw new Error('there was no run');
  const videos = [last.edited.video, last.nothing.video] as const;
  const step = QUALITIES[quality].fps / COMPARED_PER_SECOND;
  const compared = (await runPython('compare.py', [...videos, String(step)])) as Compared;
  const [{ frames: manimFrames }] = (await runPython('quality.py', ['-', last.manim.video])) as [
    { frames: number },
  ];
  const [editedBytes, bytes] = await Promise.all(videos.map(async (video) => (await stat(video)).size));
  const [editedCaptions, captions] = await Promise.all(videos.map(captionsOf));
  const [editedFrames, frames] = compared.frames;
  return {
    manimMs: median(all.map(({ manim }) => manim.wallMs)),
    editedMs: median(all.map(({ edited }) => edited.wallMs)),
    nothingMs: median(all.map(({ nothing }) => nothing.wallMs)),
    frames,
    editedBytes: editedBytes ?? Number.NaN,
    bytes: bytes ?? Number.NaN,
    equalFrames: compared.equal,
    ssim: compared.ssim,
    lowestSsim: compared.lowestSsim,
    psnr: compared.psnr,
    differences: [
      ...(editedFrames === frames ? [] : [`${editedFrames} frames, from nothing ${frames}`]),
      ...(manimFrames === frames ? [] : [`manim has ${manimFrames} frames`]),
      ...(compared.sameSound ? [] : ['other sound']),
      ...(editedCaptions === captions ? [] : ['other captions']),
    ],
  };
}

async function captionsOf(video: string): Promise<string> {
  return readFile(video.replace(/\.mp4$/, '.vtt'), 'utf8').catch(() => '');
}
