// Voiceovers without files, said by a command outside of the sandbox: one of ours, and espeak-ng where it is installed.
import { spawnSync } from 'node:child_process';
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { SpeechOptions } from '../../lib/model/speech.ts';
import { scenepress } from '../appliance/command.ts';
import { startService } from '../fixtures/renders.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { until } from '../fixtures/until.ts';
import { inspectVideo } from '../fixtures/video.ts';
import { silentWav } from '../fixtures/wav.ts';

const CODE = `from manim import *
from manim_voiceover import VoiceoverScene
from manim_voiceover.services.gtts import GTTSService

class Main(VoiceoverScene):
    def construct(self):
        self.set_speech_service(GTTSService(lang="en"))
        with self.voiceover(text="A circle $(id) appears; now."):
            self.play(Create(Circle()), run_time=0.4)
        with self.voiceover(text="That is all.", key="end"):
            self.wait(0.1)
`;
const REQUEST = { owner: 'ada', className: 'Main', quality: 'low', code: CODE } as const;

/** Says anything as silence of so many seconds, and notes what it was given. */
async function ownCommand(
  t: Test,
  seconds: number,
): Promise<{ command: string[]; notes: () => Promise<string> }> {
  const folder = await temporaryFolder(t);
  await chmod(folder, 0o777); // As root, the command is another user.
  const log = join(folder, 'log');
  const script = `tee -a ${log} >/dev/null; echo "$1" >> ${log}; echo ${silentWav(seconds).toString('base64')} | base64 -d`;
  return { command: ['sh', '-c', script, 'sh', '{language|xx}'], notes: () => readFile(log, 'utf8') };
}

async function rendered(t: Test, speech: SpeechOptions, formats: ['transparent-png'] | [] = []) {
  const service = await startService(t, { speech });
  const { jobId } = await service.enqueue({ ...REQUEST, formats });
  const job = await service.wait(jobId);
  t.equal(job.status, 'completed', job.error ?? '');
  const { path = '', stream } = await service.openArtifact(jobId, 'video.mp4');
  stream.destroy();
  return { service, jobId, path, job };
}

t.test('a job hears a command, once for each text, and renders again with the same audio', async (t) => {
  const { command, notes } = await ownCommand(t, 1);
  const { service, jobId, path } = await rendered(t, { command }, ['transparent-png']);
  t.equal(await notes(), 'A circle $(id) appears; now.\nen\nThat is all.\nen\n', 'also of two drawings');
  const video = await inspectVideo(path);
  t.equal(video.seconds, 2);
  t.ok(Math.abs((video.audio?.seconds ?? 0) - 2) < 0.05);
  const { stream } = await service.openArtifact(jobId, 'captions.vtt');
  t.match(await new Response(stream as never).text(), /00:00:01\.000 --> 00:00:02\.000\nThat is all\./);

  const again = await service.wait((await service.renderAgain(jobId)).jobId);
  t.equal(again.status, 'completed');
  t.equal((await notes()).split('\n').length, 5, 'nothing is said again');
  const second = await service.openArtifact(again.jobId, 'video.mp4');
  second.stream.destroy();
  t.same(await readFile(second.path ?? ''), await readFile(path));

  const still = await service.still(CODE, { at: 1.5, owner: 'ada' });
  t.ok(still.ok);
  t.match(await service.check(CODE, { owner: 'ada' }), { ok: true });
  t.equal((await notes()).split('\n').length, 5);
});

t.test('an error names the text and what the command did', async (t) => {
  const service = await startService(t, { speech: { command: ['sh', '-c', 'exit 7'] } });
  const job = await service.wait((await service.enqueue(REQUEST)).jobId);
  t.match(job, {
    status: 'failed',
    failedBy: 'scene',
    diagnosis: {
      message:
        'No audio could be made for the text “A circle $(id) appears; now.”, without a key: the speech command ended ' +
        'with exit code 7.',
      line: 8,
    },
  });
});

t.test('a canceled job ends its command', async (t) => {
  // Unlike any other on the machine.
  const sleep = `sleep 300.${process.pid}`;
  const { notes, command } = await ownCommand(t, 1);
  const [sh = '', dash = '', script = '', ...others] = command;
  const service = await startService(t, {
    speech: { command: [sh, dash, `${script}; ${sleep}`, ...others] },
  });
  const { jobId } = await service.enqueue(REQUEST);
  await until(async () => (await notes().catch(() => '')).includes('en'));
  t.match(await service.cancel(jobId), { status: 'failed' });
  const found = () => spawnSync('pgrep', ['-fx', sleep]).status;
  await until(() => found() === 1);
});

t.test('the command line hears it, too', async (t) => {
  const cwd = await temporaryFolder(t);
  await chmod(cwd, 0o755);
  await writeFile(join(cwd, 'scene.py'), CODE);
  const { command } = await ownCommand(t, 1);
  const cache = await temporaryFolder(t);
  const env = {
    SCENEPRESS_SPEECH_COMMAND: command.map((word) => `'${word}'`).join(' '),
    XDG_CACHE_HOME: cache,
  };
  const result = await scenepress(['render', 'scene.py', 'Main', '-q', 'low', '-o', 'out.mp4'], { cwd, env });
  t.equal(result.code, 0, result.stderr);
  t.equal((await inspectVideo(join(cwd, 'out.mp4'))).seconds, 2);
  t.equal((await readdir(join(cache, 'scenepress', 'speech'))).length, 2, 'its audio is kept');
});

const hasEspeak = spawnSync('espeak-ng', ['--version']).status === 0;
t.test('espeak-ng says it', { skip: !hasEspeak && 'espeak-ng is not installed' }, async (t) => {
  const { path } = await rendered(t, { command: 'espeak-ng --stdin --stdout -v {language|en}' });
  const video = await inspectVideo(path);
  t.ok(video.seconds > 2 && video.seconds < 6, `${video.seconds} s`);
  const { stderr } = spawnSync('ffmpeg', ['-i', path, '-af', 'volumedetect', '-f', 'null', '-'], {
    encoding: 'utf8',
  });
  t.match(stderr, /mean_volume: -[12]\d\./, 'it can be heard');
});
