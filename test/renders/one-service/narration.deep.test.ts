// A scene whose narration was recorded elsewhere: what is seen, heard and read begins at the same time.
import { readFile } from 'node:fs/promises';
import t from 'tap';
import { artifactPath, render, sharedService } from '../../fixtures/renders.ts';
import { pictureChanges, soundOnsets, tones } from '../../fixtures/tones.ts';

const NEAR_SECONDS = 0.04;
const CODE = `from manim import *
from manim_voiceover import VoiceoverScene
from manim_voiceover.services.gtts import GTTSService

class Main(VoiceoverScene):
    def construct(self):
        self.set_speech_service(GTTSService())
        shade = Rectangle(width=15, height=9, stroke_width=0, fill_opacity=1)
        for text, color in (("Dark.", GRAY_E), ("Lighter.", GRAY_C), ("Light.", WHITE)):
            with self.voiceover(text=text):
                self.add(shade.set_fill(color))
`;
const ENTRIES = [
  { text: 'Dark.', file: 'voices/dark.wav', seconds: 1.31 },
  { text: 'Lighter.', file: 'voices/lighter.wav', seconds: 0.77 },
  { text: 'Light.', file: 'voices/light.wav', seconds: 0.9 },
];

const service = await sharedService();
const put = (name: string, content: string | Uint8Array) =>
  service.files.put({ owner: 'ada', name, content });

t.test('without audio the error says which text wants it, and where', async (t) => {
  const { findings } = await service.check(CODE, { owner: 'ada' });
  t.match(findings, [
    { kind: 'scene:file', line: 10, message: /no audio for the text “Dark\.”/, hint: /narration\.json/ },
  ]);
});

t.test('a source with voiceovers is read without a finding', async (t) => {
  t.same((await service.check(CODE, { owner: 'ada', dryRun: false })).findings, []);
});

t.test('video, captions and sound of three files line up within 40 ms', async (t) => {
  for (const { file, seconds } of ENTRIES) await put(file, tones(seconds, [0]));
  await put('narration.json', JSON.stringify({ entries: ENTRIES.map(({ text, file }) => ({ text, file })) }));
  const job = await render(service, { owner: 'ada', code: CODE });
  t.match(job, { status: 'completed', error: null });
  const video = await artifactPath(service, job, 'video.mp4');
  const captions = await readFile(await artifactPath(service, job, 'captions.vtt'), 'utf8');
  const cues = Array.from(captions.matchAll(/^00:00:(\d\d\.\d{3}) --> .*\n(.*)$/gm));
  t.same(
    cues.map(([, , text]) => text),
    ENTRIES.map(({ text }) => text),
  );
  const [heard, seen] = [await soundOnsets(video), await pictureChanges(video)];
  t.equal(heard.length, 3);
  for (const [index, seconds] of heard.entries()) {
    t.ok(Math.abs(seconds - (seen[index] ?? -1)) < NEAR_SECONDS, `seen: ${seconds}, ${seen[index]}`);
    t.ok(
      Math.abs(seconds - Number(cues[index]?.[1])) < NEAR_SECONDS,
      `read: ${seconds}, ${cues[index]?.[1]}`,
    );
  }
});

t.test('sounds of a request are placed at times and moments, and again in the next job', async (t) => {
  const code = `from manim import *
from scenepress_scene import cue

class Main(Scene):
    def construct(self):
        shade = Rectangle(width=15, height=9, stroke_width=0, fill_opacity=1)
        for name, color in (("dark", GRAY_E), ("lighter", GRAY_C), ("light", WHITE)):
            cue(name)
            self.add(shade.set_fill(color))
            self.wait(1.4)
`;
  const [dark, lighter, light] = ENTRIES.map(({ file, text }) => ({ file, text }));
  const audio = [
    { ...light, file: light?.file ?? '', atCue: 'light' },
    { ...dark, file: dark?.file ?? '', atSeconds: 0 },
    { ...lighter, file: lighter?.file ?? '', atCue: 'lighter' },
  ];
  const checked = { owner: 'ada', className: 'Main', audio };
  t.same((await service.check(code, checked)).findings, []);
  t.match(await service.check(code.replace('"light"', '"late"'), checked), {
    ok: false,
    findings: [
      { kind: 'scene:lookup', message: /^There is no cue 'light' for the sound voices\/light\.wav/ },
    ],
  });
  await t.rejects(service.check(code, { owner: 'ada', audio }), { message: /^audio needs className/ });
  const first = await render(service, { owner: 'ada', code, audio });
  t.match(first, { status: 'completed', error: null, audio });
  const again = await service.wait((await service.renderAgain(first.jobId)).jobId);
  for (const job of [first, again]) {
    const video = await artifactPath(service, job, 'video.mp4');
    const [heard, seen] = [await soundOnsets(video), await pictureChanges(video)];
    t.equal(heard.length, 3);
    for (const [index, seconds] of heard.entries())
      t.ok(Math.abs(seconds - (seen[index] ?? -1)) < NEAR_SECONDS, `${seconds}, ${seen[index]}`);
    const captions = await readFile(await artifactPath(service, job, 'captions.vtt'), 'utf8');
    t.same(captions.match(/^[DL].*$/gm), ['Dark.', 'Lighter.', 'Light.']);
  }
  await service.forget(again.jobId);
  t.equal((await service.get(again.jobId)).audio, null);
});
