import { hash } from 'node:crypto';
import type { PlacedAudio } from '../../model/audio.ts';
import { type Drawing, drawingsOf } from '../../model/formats.ts';
import { jobLimits, type RenderLimits } from '../../model/limits.ts';
import { paramsText } from '../../model/params.ts';
import type { CheckTask, ListTask, RenderTask, SceneSource } from '../../model/render-task.ts';
import type {
  CheckJob,
  EncodeJob,
  ListJob,
  PlacedSound,
  ReadJob,
  RenderJob,
} from '../../model/renderer-messages.ts';
import { partOf, picturesOf } from '../../model/selection.ts';
import { OWN_SIZE } from './zygotes.ts';

/** The CPU time of a check. */
const CHECK_CPU_SECONDS = 5;

/** The job of a drawing of a scene. */
export function renderJob(task: RenderTask, limits: RenderLimits, drawing: Drawing): RenderJob {
  const {
    code,
    className,
    widthPx,
    heightPx,
    local = null,
    still = null,
    inspect = null,
    seed = seedOfDrawings(task),
    params,
    audio = [],
    hasSpeech = false,
    isTexHeld = false,
  } = task;
  // Larger numbers are not exact in JSON.
  const fps = Math.min(task.fps, Number.MAX_SAFE_INTEGER);
  return {
    kind: 'render',
    ...sourceOf(code),
    className,
    widthPx,
    heightPx,
    fps,
    local,
    still,
    inspect,
    seed,
    part: partOf(task.selection),
    pictures: drawing.isTransparent ? [] : picturesOf(task.selection).places,
    params: paramsText(params),
    audio: audio.map(placed),
    hasSpeech,
    isTexHeld,
    isTransparent: drawing.isTransparent,
    hasColours: drawing.hasColours,
    hasSections: drawing.hasSections,
    limits: jobLimits(limits),
  };
}

function placed({ file, atSeconds, atCue, text, words = [] }: PlacedAudio): PlacedSound {
  return { file, atSeconds: atSeconds ?? null, atCue: atCue ?? null, text: text ?? null, words: [...words] };
}

/** With the same random numbers, all drawings of a scene are the same. */
function seedOfDrawings({ jobId, formats = [] }: RenderTask): number | null {
  return drawingsOf(formats).length === 1 ? null : Number.parseInt(hash('sha256', jobId).slice(0, 8), 16);
}

/** The job that lists the scenes of a source. */
export function listJob(task: ListTask, limits: RenderLimits): ListJob {
  const { listScenesOf: code, file = null } = task;
  return { kind: 'list', ...sourceOf(code), ...OWN_SIZE, file, limits: jobLimits(limits) };
}

/** The job that runs a scene without drawing it. */
export function checkJob(task: CheckTask, limits: RenderLimits): CheckJob {
  const { checkSceneOf: code, className, widthPx, heightPx, local = null, params } = task;
  const { audio = [], hasSpeech = false, isTexHeld = false } = task;
  const fps = Math.min(task.fps, Number.MAX_SAFE_INTEGER);
  const size = { widthPx, heightPx, fps };
  const cpuSeconds = CHECK_CPU_SECONDS;
  return {
    kind: 'check',
    ...sourceOf(code),
    className,
    ...size,
    local,
    params: paramsText(params),
    audio: audio.map(placed),
    hasSpeech,
    isTexHeld,
    cpuSeconds,
    limits: jobLimits(limits),
  };
}

/** The job that reads a source without running it. */
export function readJob(code: SceneSource, className: string | undefined, limits: RenderLimits): ReadJob {
  return { kind: 'read', ...sourceOf(code), className: className ?? null, limits: jobLimits(limits) };
}

/** The job that encodes the frames of a drawing. */
export function encodeJob(
  render: RenderJob,
  { previewIntervalMs, isIndexed = false, selection }: RenderTask,
  { isTransparent: isOther, formats }: Drawing,
): EncodeJob {
  const { className, widthPx, heightPx, fps, local, still, inspect, limits } = render;
  const makes = inspect !== null ? 'pictures' : still !== null ? 'still' : 'video';
  const pictures = isOther ? [] : picturesOf(selection).names;
  const outputs = { local, makes, formats, isOther, pictures, isIndexed: isIndexed && !isOther } as const;
  return { kind: 'encode', className, widthPx, heightPx, fps, previewIntervalMs, ...outputs, limits };
}

/** JSON has no bytes. */
function sourceOf(code: SceneSource): Pick<RenderJob, 'code' | 'isBytes'> {
  if (typeof code === 'string') return { code, isBytes: false };
  return { code: Buffer.from(code).toString('latin1'), isBytes: true };
}
