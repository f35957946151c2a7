// In a copy of the sources, one row adds a quality, and one row and a line of the renderer an artifact. Both are rendered.
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { testFolder } from '../../fixtures/test-folder.ts';
import { inspectVideo } from '../../fixtures/video.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const ENCODING = 'renderer/scene_renderer/encoder/encoding.py';
const EIGHTK =
  "  eightk: { widthPx: 7680, heightPx: 4320, fps: 60, creditsPerSecond: 64, label: '8K', manimLetter: 'e' },\n";
const COVER = `  'cover.jpg': {
    field: 'cover',
    contentType: 'image/jpeg',
    format: null,
    isRequired: true,
    description: 'JPEG cover.',
    maxBytes: 16_777_216,
    isSavedWithVideo: false,
  },
`;

const copy = join(testFolder(t), 'copy');
mkdirSync(copy);
for (const name of ['lib', 'appliance', 'renderer', 'package.json', 'tsconfig.json'])
  cpSync(join(ROOT, name), join(copy, name), { recursive: true });
for (const name of ['node_modules', '.venv', '.setup']) symlinkSync(join(ROOT, name), join(copy, name));
mkdirSync(join(copy, 'scripts'));
mkdirSync(join(copy, 'test'));

/** Inserts text before the first, or after each place where a text is found. */
function edit(path: string, change: (source: string) => string): void {
  const source = readFileSync(join(copy, path), 'utf8');
  const changed = change(source);
  if (changed === source) throw new Error(`${path} has no place for it`);
  writeFileSync(join(copy, path), changed);
}

edit('lib/model/qualities.ts', (source) => source.replace('} as const;', `${EIGHTK}} as const;`));
edit('lib/model/artifacts.ts', (source) => source.replace('} as const;', `${COVER}} as const;`));
edit(ENCODING, (source) => source.replace(/^( *.*folder \/ )"thumbnail\.jpg"(.*\n)/gm, '$&$1"cover.jpg"$2'));

const run = promisify(execFile);
const scenepress = (...args: string[]) =>
  run(process.execPath, ['appliance/main.ts', ...args], { cwd: copy, maxBuffer: 8_000_000 });

t.test('the sources are without type errors', async (t) => {
  // NODE_OPTIONS loads tap, which breaks tsc.
  const tsc = ['-u', 'NODE_OPTIONS', join(ROOT, 'node_modules/.bin/tsc'), '--noEmit', '-p', '.'];
  const { stdout } = await run('env', tsc, { cwd: copy });
  t.equal(stdout, '');
});

t.test('the API has them', async (t) => {
  const { components } = JSON.parse((await scenepress('openapi')).stdout);
  t.ok(components.schemas.RenderRequest.properties.quality.enum.includes('eightk'));
  t.match(components.schemas.RenderJob.properties.result, {
    properties: { cover: { type: 'string', format: 'uri', description: 'JPEG cover.' } },
  });
  t.ok(components.schemas.RenderJob.properties.result.required.includes('cover'));
});

t.test('they are rendered', async (t) => {
  const code =
    'from manim import *\nclass Point(Scene):\n    def construct(self):\n        self.add(Dot())\n        self.wait(1 / 60)\n';
  writeFileSync(join(copy, 'point.py'), code);
  const { stdout } = await scenepress('render', 'point.py', '-q', 'l', '--cover', 'cover.jpg', '--json');
  t.match(JSON.parse(stdout), { status: 'completed', error: null, cover: join(copy, 'cover.jpg') });
  t.equal((await readFile(join(copy, 'cover.jpg'))).readUInt16BE(0), 0xffd8);

  const program = `
    import { readFileSync } from 'node:fs';
    import { RenderService } from './lib/index.ts';
    import { jobJson } from './lib/model/job-json.ts';
    const service = new RenderService({ folder: './data', workers: 1 });
    await service.start();
    const code = readFileSync('point.py', 'utf8');
    const { jobId } = await service.enqueue({ owner: 'ada', code, className: 'Point', quality: 'eightk' });
    const job = JSON.parse(jobJson(await service.wait(jobId), 'https://example.org'));
    const video = await service.openArtifact(jobId, 'video.mp4');
    const cover = await service.openArtifact(jobId, 'cover.jpg');
    console.log(JSON.stringify({ job, path: video.path, contentType: cover.contentType }));
    await service.stop();
  `;
  writeFileSync(join(copy, 'program.ts'), program);
  const { job, path, contentType } = JSON.parse(
    (await run(process.execPath, ['program.ts'], { cwd: copy })).stdout,
  );
  t.match(job, { status: 'completed', result: { cover: /^https:\/\/example\.org\/.*\/cover\.jpg$/ } });
  t.match(await inspectVideo(path), { widthPx: 7680, heightPx: 4320, fps: 60, frames: 1 });
  t.equal(contentType, 'image/jpeg');
});
