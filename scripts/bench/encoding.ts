import { parseArgs } from 'node:util';
import { QUALITIES } from '../../lib/index.ts';
import { frameSizeOf } from '../../lib/model/qualities.ts';
import { benchScenes } from './bench-scenes.ts';
import { qualityOf } from './manim-command.ts';
import { runPython } from './python.ts';

/** Presets of x264, each with a number of options. The first is that of the renderer (`video/mp4.py`). */
const CANDIDATES = [
  'superfast:crf=18.7:bf=0:mbtree=1:rc-lookahead=10:subq=2:8x8dct=0:partitions=p8x8,i4x4',
  'superfast:crf=20:bf=0:mbtree=1:rc-lookahead=20:subq=2:8x8dct=0:partitions=p8x8,i4x4',
  'superfast:crf=20:bf=0:mbtree=1:rc-lookahead=20:8x8dct=0:partitions=p8x8,i4x4',
  'superfast:crf=20.5:mbtree=1:rc-lookahead=20:partitions=p8x8,b8x8,i8x8,i4x4',
  'superfast:crf=20',
  'veryfast:crf=21',
  'ultrafast:crf=24:coder=1',
  'medium:crf=23',
];

interface Encoded {
  settings: string;
  cpuMs: number;
  wallMs: number;
  bytes: number;
  ssim: number;
  psnr: number;
}

/** Encodes the frames of scenes with several settings, and compares time, size and loss with those of Manim. */
export async function bench(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', multiple: true },
      quality: { type: 'string', default: 'medium' },
      settings: { type: 'string', multiple: true, default: CANDIDATES },
      each: { type: 'boolean', default: false },
    },
  });
  const quality = qualityOf(values.quality);
  const { widthPx, heightPx } = frameSizeOf(quality, '16:9');
  const numbers = [widthPx, heightPx, QUALITIES[quality].fps].map(String);
  const all = new Map<string, { manim: Encoded; ours: Encoded }[]>();
  for (const { name, set, file } of await benchScenes()) {
    if (values.only && !values.only.includes(name) && !values.only.includes(set)) continue;
    const { results } = (await runPython('encode.py', [file, name, ...numbers, ...values.settings])) as {
      results: [Encoded, ...Encoded[]];
    };
    const [manim, ...others] = results;
    if (values.each) console.log(`\n${name}: ${shown(manim)}`);
    for (const ours of others) {
      all.set(ours.settings, [...(all.get(ours.settings) ?? []), { manim, ours }]);
      if (values.each) console.log(`  ${ours.settings}: ${shown(ours)}`);
    }
  }
  console.log(
    '\nCPU and size: times those of Manim, geometric means. Loss: mean and least difference. Worse: videos that are',
  );
  console.log('larger than those of Manim and below them in SSIM or PSNR.\n');
  console.log(
    `${'settings'.padEnd(86)}${['CPU', 'size', 'largest', 'SSIM', 'least', 'dB', 'least', 'worse'].map((heading) => heading.padStart(9)).join('')}`,
  );
  for (const [settings, pairs] of all) console.log(line(settings, pairs));
}

function line(settings: string, pairs: { manim: Encoded; ours: Encoded }[]): string {
  const sizes = pairs.map(({ manim, ours }) => ours.bytes / manim.bytes);
  const ssims = pairs.map(({ manim, ours }) => ours.ssim - manim.ssim);
  const decibels = pairs.map(({ manim, ours }) => ours.psnr - manim.psnr);
  const worse = pairs.filter(
    ({ manim, ours }) => ours.bytes > manim.bytes && (ours.ssim < manim.ssim || ours.psnr < manim.psnr),
  );
  const numbers = [
    mean(pairs.map(({ manim, ours }) => ours.cpuMs / manim.cpuMs)).toFixed(2),
    mean(sizes).toFixed(2),
    Math.max(...sizes).toFixed(2),
    average(ssims).toFixed(5),
    Math.min(...ssims).toFixed(5),
    average(decibels).toFixed(2),
    Math.min(...decibels).toFixed(2),
    String(worse.length),
  ];
  return settings.padEnd(86) + numbers.map((number) => number.padStart(9)).join('');
}

function shown({ cpuMs, wallMs, bytes, ssim, psnr }: Encoded): string {
  const [cpu, wall] = [cpuMs, wallMs].map((ms) => (ms / 1000).toFixed(2));
  return `${cpu} s of CPU, ${wall} s, ${(bytes / 1024).toFixed(0)} KiB, SSIM ${ssim.toFixed(5)}, ${psnr.toFixed(2)} dB`;
}

/** Geometric. */
function mean(values: number[]): number {
  return Math.exp(average(values.map(Math.log)));
}

function average(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
