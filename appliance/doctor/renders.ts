import { text } from 'node:stream/consumers';
import { type Job, RenderService } from '../../lib/index.ts';
import { isScenepressError, type SandboxStatus, type UnpackedRoot } from '../../lib/internal.ts';
import type { Config } from '../config/config.ts';
import { type CommandRendererOptions, withRenderer } from '../runtime/with-renderer.ts';
import { type Finding, failed, ok, warning } from './finding.ts';
import { type RendererRemedies, rendererRemedies } from './remedies.ts';

const SCENES = String.raw`from manim import *
import wave


class Words(Scene):
    def construct(self):
        self.add(Text("doctor"))
        self.wait(1 / config.frame_rate)


class Formula(Scene):
    def construct(self):
        self.add(MathTex(r"\sqrt{x^2} = |x|"))
        self.wait(1 / config.frame_rate)


class Solid(ThreeDScene):
    def construct(self):
        self.set_camera_orientation(phi=PI / 4, theta=PI / 4)
        self.add(Surface(lambda u, v: np.array([u, v, u * v]), resolution=2))
        self.wait(1 / config.frame_rate)


class Sound(Scene):
    def construct(self):
        with wave.open("tone.wav", "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(44100)
            file.writeframes(bytes(44100))
        self.add_sound("tone.wav")
        self.wait(0.5)


class Captions(Scene):
    def construct(self):
        self.add_subcaption("doctor", duration=0.2)
        self.wait(0.5)


class Fonts(Scene):
    def construct(self):
        import manimpango

        there = manimpango.list_fonts()
        missing = [name for name in ("Noto Sans", "DejaVu Sans", "Latin Modern Roman") if name not in there]
        # For a character that no font has, Pango draws a box with the digits of its number.
        missing += [sign for sign in "数か한😀" if sum(part.has_points() for part in Text(sign)) != 1]
        if missing:
            raise ValueError("there is no font for " + ", ".join(missing))
        self.wait(1 / config.frame_rate)
`;

/** The service of `SCENEPRESS_SPEECH_…` says a text that is kept from no earlier time. */
const SPEECH_SCENE = `from manim_voiceover import VoiceoverScene


class Speech(VoiceoverScene):
    def construct(self):
        with self.voiceover(text="This is the doctor at $NOW."):
            self.wait(0.1)
`;

interface Trial {
  check: string;
  className: string;
  remedy: keyof RendererRemedies;
  flaw?: Flaw;
  code?: string;
}

/** Test scenes, with the remedy if one fails. */
const TRIALS: Trial[] = [
  { check: 'Text', className: 'Words', remedy: 'renderer' },
  { check: 'TeX', className: 'Formula', remedy: 'tex' },
  { check: '3D', className: 'Solid', remedy: 'renderer' },
  { check: 'Sound', className: 'Sound', remedy: 'renderer', flaw: withoutSound },
  { check: 'Captions', className: 'Captions', remedy: 'renderer', flaw: withoutCaptions },
  { check: 'Fonts', className: 'Fonts', remedy: 'fonts' },
];

/** Checks the artifacts of a render; resolves with the problem, or undefined. */
type Flaw = (service: RenderService, job: Job) => Promise<string | undefined>;

/** Checks sandbox and renderer with a separate service in a temporary folder. */
export async function examineRenders(config: Config, tell: (finding: Finding) => void): Promise<void> {
  const make = (options: CommandRendererOptions) => new RenderService({ ...options, workers: 1 });
  const examineWith = async (
    service: RenderService,
    interrupted: AbortSignal,
    root: UnpackedRoot | undefined,
  ): Promise<void> => {
    const remedies = rendererRemedies(config, root);
    const startedAt = performance.now();
    try {
      await service.start();
    } catch (error) {
      if (interrupted.aborted || !isScenepressError(error)) throw error;
      tell(failed('Renderer', error.message, `If the message names no remedy: ${remedies.renderer}`));
      return;
    }
    const { renderer, sandbox } = service.status();
    const warm = `Manim ${renderer?.manim} on Python ${renderer?.python}`;
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    tell(ok('Renderer', `${warm}, warm after ${seconds} s${unpackedShown(root)}`));
    if (sandbox) {
      tell(sandboxFinding(sandbox, config));
      tell(limitsFinding(sandbox, config));
    }
    for (const trial of TRIALS) tell(await examineTrial(service, trial, remedies));
    if (config.speechCommand !== undefined || config.speechUrl !== undefined)
      tell(await examineTrial(service, speechTrial(), remedies));
  };
  await withRenderer(config, make, examineWith, { lasting: false });
}

function speechTrial(): Trial {
  const code = SPEECH_SCENE.replace('$NOW', new Date().toISOString());
  return { check: 'Speech', className: 'Speech', remedy: 'speech', flaw: withoutSound, code };
}

/** Location of the single executable's renderer. */
function unpackedShown(root: UnpackedRoot | undefined): string {
  if (!root) return '';
  return root.temporary ? `; unpacked temporarily in ${root.folder}` : `; unpacked in ${root.folder}`;
}

async function examineTrial(
  service: RenderService,
  { check, className, remedy: name, flaw, code = SCENES }: Trial,
  remedies: RendererRemedies,
): Promise<Finding> {
  const remedy = remedies[name];
  const { jobId } = await service.enqueue({ owner: 'doctor', code, className, quality: 'low' });
  const job = await service.wait(jobId);
  if (job.status === 'failed') return failed(check, job.error?.split('\n')[0] ?? 'the render failed', remedy);
  const missing = await flaw?.(service, job);
  if (missing !== undefined) return failed(check, missing, remedy);
  return ok(check, `rendered in ${((job.durationMs ?? 0) / 1000).toFixed(1)} s`);
}

async function withoutSound(service: RenderService, { jobId }: Job): Promise<string | undefined> {
  const { stream } = await service.openArtifact(jobId, 'video.mp4');
  const video = await text(stream.setEncoding('latin1'));
  return video.includes('mp4a') ? undefined : 'the video has no sound';
}

async function withoutCaptions(
  service: RenderService,
  { jobId, artifacts }: Job,
): Promise<string | undefined> {
  if (!artifacts.some(({ name }) => name === 'captions.vtt')) return 'the render left no captions';
  const { stream } = await service.openArtifact(jobId, 'captions.vtt');
  return (await text(stream)).includes('doctor') ? undefined : 'the captions are empty';
}

function sandboxFinding({ level, layers, problems }: SandboxStatus, { insecureNoSandbox }: Config): Finding {
  const { cgroup: _, ...missing } = problems;
  const reasons = Object.entries(missing).map(([layer, reason]) => `${layer}: ${reason}`);
  const held = insecureNoSandbox ? '' : '; it blocked the self-attack';
  const message = `${level} (${layers.join(', ') || 'no layers'})${held}`;
  if (level === 'full' || level === 'watched') return ok('Sandbox', message);
  const remedy = `Missing: ${reasons.join('; ')}. See "Security model" in the manual.`;
  return warning('Sandbox', message, remedy);
}

/** Limits enforced by a watch are not a problem: many machines permit nothing else. */
function limitsFinding({ limits, problems }: SandboxStatus, { renderMemoryMb }: Config): Finding {
  const held = (Object.keys(LIMITED) as (keyof typeof LIMITED)[]).map(
    (name) => `${LIMITED[name]} ${HOLDS[limits[name]]}`,
  );
  const reason = problems.cgroup === undefined ? '' : `; no control groups: ${problems.cgroup}`;
  return ok('Limits', `a render may use ${renderMemoryMb} MiB of memory; ${held.join(', ')}${reason}`);
}

const LIMITED = { memory: 'memory is', processes: 'processes are', disk: 'files are' } as const;
const HOLDS = {
  kernel: 'limited by the kernel',
  user: "limited by the kernel, for the service's user as a whole",
  watch: 'checked five times a second',
} as const;
