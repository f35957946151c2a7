import type { Quality } from '../../lib/index.ts';
import type { Edit } from './lectures.ts';
import { geometricMean } from './numbers.ts';

/** A line of the table. */
export interface EditResult {
  lecture: string;
  is3d: boolean;
  edit: Edit;
  quality: Quality;
  frames: number;
  manimMs: number;
  editedMs: number;
  nothingMs: number;
  editedBytes: number;
  bytes: number;
  /** Frames that are the same in the edited video and in the one from nothing. */
  equalFrames: number;
  /** Of these two videos. */
  ssim: number;
  lowestSsim: number;
  psnr: number;
  /** What else differs and should not. */
  differences: string[];
  /** Whether Scenepress had kept anything of the render before the edit. */
  hasWarmCache: boolean;
}

const faster = ({ manimMs, editedMs }: EditResult) => manimMs / editedMs;
const share = ({ editedMs, nothingMs }: EditResult) => editedMs / nothingMs;
const size = ({ editedBytes, bytes }: EditResult) => editedBytes / bytes;

const COLUMNS: [heading: string, cell: (result: EditResult) => string][] = [
  ['quality', ({ quality }) => quality],
  ['frames', ({ frames }) => String(frames)],
  ['manim', ({ manimMs }) => seconds(manimMs)],
  ['edited', ({ editedMs }) => seconds(editedMs)],
  ['nothing', ({ nothingMs }) => seconds(nothingMs)],
  ['×', (result) => faster(result).toFixed(2)],
  ['time', (result) => share(result).toFixed(2)],
  ['size', (result) => size(result).toFixed(3)],
  ['SSIM', ({ ssim }) => ssim.toFixed(5)],
  ['lowest', ({ lowestSsim }) => lowestSsim.toFixed(5)],
  ['dB', ({ psnr }) => psnr.toFixed(1)],
  ['equal', ({ equalFrames, frames }) => `${((100 * equalFrames) / frames).toFixed(0)} %`],
];

/** Prints results as they come. */
export class EditTable {
  readonly results: EditResult[] = [];

  begin(): void {
    print(
      'lecture',
      'edit',
      COLUMNS.map(([heading]) => heading),
    );
  }

  add(result: EditResult): void {
    this.results.push(result);
    print(
      result.lecture,
      result.edit,
      COLUMNS.map(([, cell]) => cell(result)),
    );
    for (const difference of result.differences) console.log(`  ${difference}`);
  }

  /** Sums up each quality, in two and in three dimensions. */
  end(): void {
    for (const quality of new Set(this.results.map((result) => result.quality))) {
      for (const is3d of [false, true]) {
        const results = this.results.filter((result) => result.quality === quality && result.is3d === is3d);
        if (results.length > 0) summarize(`${quality}, ${is3d ? '3D' : '2D'}`, results);
      }
    }
    if (this.results.some(({ hasWarmCache }) => !hasWarmCache))
      console.log(
        '\nScenepress kept nothing of the lectures: the edited ones were rendered from nothing, too.',
      );
  }
}

function summarize(title: string, results: EditResult[]): void {
  const ratios = results.map(faster);
  const shares = results.map(share);
  const lines = [
    `as fast as manim: ${mean(ratios)} ×, at least ${Math.min(...ratios).toFixed(2)}`,
    `time, edited to from nothing: ${mean(shares)}, at most ${Math.max(...shares).toFixed(2)}`,
    `size, edited to from nothing: at most ${Math.max(...results.map(size)).toFixed(3)}`,
    `lowest SSIM edited vs. from nothing: ${lowest(results, 'ssim', 5)} of a video, ${lowest(results, 'lowestSsim', 5)} of a frame; lowest PSNR: ${lowest(results, 'psnr', 1)} dB`,
    `videos with other differences: ${results.filter(({ differences }) => differences.length > 0).length}`,
  ];
  console.log(`\n${title}, geometric means of ${results.length}:`);
  for (const line of lines) console.log(`  ${line}`);
  for (const edit of new Set(results.map((result) => result.edit))) {
    const some = results.filter((result) => result.edit === edit);
    console.log(
      `  ${edit.padEnd(8)}${mean(some.map(faster)).padStart(6)} × as fast as manim, time ${mean(some.map(share))}`,
    );
  }
}

function mean(values: number[]): string {
  return geometricMean(values).toFixed(2);
}

function lowest(results: EditResult[], of: 'ssim' | 'lowestSsim' | 'psnr', digits: number): string {
  return Math.min(...results.map((result) => result[of])).toFixed(digits);
}

function print(lecture: string, edit: string, cells: string[]): void {
  console.log(lecture.padEnd(10) + edit.padEnd(9) + cells.map((cell) => cell.padStart(9)).join(''));
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(2);
}
