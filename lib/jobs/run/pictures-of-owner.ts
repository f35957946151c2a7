import { readFile } from 'node:fs/promises';
import { ScenepressError } from '../../base/errors.ts';
import type { Names } from '../../base/known-options.ts';
import type { Logger } from '../../base/logger.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Pricing } from '../../ledger/pricing.ts';
import { findingOf } from '../../model/finding.ts';
import type { InspectedSource } from '../../model/inspected-source.ts';
import type {
  InspectRequest,
  ServiceInspectedScene,
  StillRequest,
  StillResult,
  TakenPictures,
} from '../../model/owned-pictures.ts';
import { paramsOf } from '../../model/param-rules.ts';
import { frameSizeOf, QUALITIES } from '../../model/qualities.ts';
import { parseRenderRequest } from '../../model/render-request.ts';
import type { RenderResult, ShortFailure } from '../../model/render-task.ts';
import { stillPlaceOf } from '../../model/still-place.ts';
import { isLeftOut } from '../../owner-files/file-sets.ts';
import { discardFolder } from '../../render/end/remove-folder.ts';
import type { Renderer } from '../../render/pool/renderer.ts';
import type { Clock } from '../../time/clock.ts';
import type { Drawn, FundsOf, Snapshots } from '../snapshots/snapshots.ts';
import { addFinding, type CheckParts, leftOut } from './check-scenes.ts';
import { inspectedOf, inspectScenes, type PictureTask, pictureName } from './inspect-scenes.ts';
import { assertWorker, filesFor, type HowToRun, type ReceivedFiles, runsOfOwner } from './runs-of-owner.ts';
import { scenesOfOwner } from './scenes-of.ts';
import { watchFunds } from './watch-funds.ts';

/** What pictures need of a service. */
export interface PictureParts extends CheckParts {
  renderer: CheckParts['renderer'] & Pick<Renderer, 'render' | 'listScenes'>;
  snapshots: Snapshots;
  ledger: Ledger;
  pricing: Pricing;
  clock: Clock;
  logger: Logger;
}

/** The options of an inspection. */
export const INSPECT_REQUEST: Names<InspectRequest> = {
  ...{ className: true, quality: true, aspectRatio: true, fps: true },
  ...{ owner: true, signal: true, files: true, params: true },
};
/** The options of a still. */
export const STILL_REQUEST: Names<StillRequest> = { ...INSPECT_REQUEST, at: true };

const MAY_SUCCEED = new Set<RenderResult['kind']>(['died', 'killed', 'interrupted', 'unavailable']);
const JPEG = 'image/jpeg';
const PNG = 'image/png';

type Rendered = Extract<RenderResult, { kind: 'rendered' }>;

/** What was made of a render, and what is kept of it. */
interface Made<Result> {
  result: Result;
  files: Drawn['files'];
}

/** Of one that was not drawn: `durationMs` counts towards the budget of checks. */
type Taken<Result> =
  | { kind: 'taken'; durationMs: 0; result: Result; taken: TakenPictures }
  | { kind: 'unpaid'; durationMs: number; error: unknown }
  | ShortFailure;

/**
 * Inspects the scenes of a source for an owner, who is charged for each. Errors: those of {@link inspectScenes}, of
 * {@link ShortRuns.run} and of {@link Snapshots.take}.
 */
export async function inspectOfOwner(
  parts: PictureParts,
  code: string,
  { owner, signal, files, sent, params, ...options }: Omit<InspectRequest, 'files'> & ReceivedFiles,
): Promise<InspectedSource<ServiceInspectedScene>> {
  assertWorker(parts.roles, 'inspect');
  parseRenderRequest({ code, className: options.className ?? 'Scene', ...plain(options) });
  const set = await filesFor(parts, { owner, files, sent });
  const run = runsOfOwner(parts, { owner, signal, set });
  const inspect = async (task: PictureTask) => {
    const make = async (rendered: Rendered) => {
      const result = await inspectedOf(task.className, rendered);
      const kept = new Set(['sheet.jpg', ...result.scene.pictures.map(({ number }) => pictureName(number))]);
      const files = (rendered.localFiles ?? []).filter(({ name }) => kept.has(name));
      return { result, files: files.map((file) => ({ ...file, contentType: JPEG })) };
    };
    const taken = await run((how) => take(parts, task, make, { owner, signal, ...how }));
    if (taken.kind === 'unpaid') throw taken.error;
    if (taken.kind !== 'taken') return taken;
    const { scene, findings, params } = taken.result;
    return { kind: 'inspected' as const, scene: { ...scene, ...taken.taken }, findings, params };
  };
  const listScenes = (source: PictureTask['code']) => run((how) => parts.renderer.listScenes(source, how));
  const asked = { ...options, ...(params && { params }) };
  const found = await inspectScenes({ listScenes, inspect }, code, asked);
  if (isLeftOut(set)) addFinding(found.findings, leftOut());
  return found;
}

/** Draws one frame of a scene for an owner, who is charged. Errors: those of {@link inspectOfOwner}. */
export async function stillOfOwner(
  parts: PictureParts,
  code: string,
  {
    owner,
    signal,
    files,
    sent,
    params: given,
    at = 'last',
    ...options
  }: Omit<StillRequest, 'files'> & ReceivedFiles,
): Promise<StillResult> {
  assertWorker(parts.roles, 'still');
  const still = stillPlaceOf(at);
  const className = options.className ?? (await onlySceneOf(parts, code, { owner, signal, files, sent }));
  const request = parseRenderRequest({ code, className, ...plain(options) });
  const { quality, aspectRatio, fps = QUALITIES[quality].fps } = request;
  const params = paramsOf(given);
  const size = frameSizeOf(quality, aspectRatio);
  const task = { code, className, ...size, fps, still, ...(params && { params }) };
  const make = async ({ localFiles = [] }: Rendered) => {
    const file = localFiles.find(({ name }) => name === 'output.png');
    if (!file) throw new ScenepressError('renderer_unavailable', 'The renderer made no picture.');
    return {
      result: await readFile(file.path),
      files: [{ name: 'still.png', path: file.path, contentType: PNG }],
    };
  };
  const set = await filesFor(parts, { owner, files, sent });
  const run = runsOfOwner(parts, { owner, signal, set });
  const warnings = isLeftOut(set) ? [leftOut()] : [];
  const taken = await run((how) => take(parts, task, make, { owner, signal, ...how }));
  if (taken.kind === 'unpaid') throw taken.error;
  if (taken.kind === 'taken')
    return { ok: true, findings: warnings, still: { className, png: taken.result, ...taken.taken } };
  if (taken.kind === 'died')
    throw new ScenepressError('renderer_unavailable', `The renderer failed: ${taken.message}.`);
  return { ok: false, findings: [...warnings, taken.finding ?? findingOf(taken)], still: null };
}

async function onlySceneOf(parts: PictureParts, code: string, who: Who & ReceivedFiles): Promise<string> {
  const [name, ...others] = await scenesOfOwner(parts, code, plain(who));
  if (name === undefined)
    throw new ScenepressError('invalid_request', 'The code defines no scene. Define a class for one.');
  if (others.length === 0) return name;
  const names = [name, ...others].join(', ');
  throw new ScenepressError(
    'invalid_request',
    `The code defines several scenes. Choose one with className: ${names}.`,
  );
}

interface Who {
  owner: string | undefined;
  signal: AbortSignal | undefined;
}

/** Draws, charges and keeps. Rejects only when nothing was drawn. */
async function take<Result>(
  parts: PictureParts,
  task: PictureTask,
  make: (rendered: Rendered) => Promise<Made<Result>>,
  { owner, signal, ...how }: Who & HowToRun,
): Promise<Taken<Result>> {
  let failure: ShortFailure | undefined;
  let made: Made<Result> | undefined;
  let durationMs = 0;
  let folder: string | undefined;
  const draw = async (funds?: FundsOf): Promise<Drawn | undefined> => {
    const rendered = await renderTwice(parts, { ...task, ...how }, funds, signal);
    durationMs = rendered.durationMs;
    if (rendered.kind !== 'rendered') {
      failure = failureOf(rendered);
      return undefined;
    }
    ({ folder } = rendered);
    made = await make(rendered);
    return { durationMs, files: made.files };
  };
  const discard = async () => {
    if (folder !== undefined) await discardFolder(folder, (problem) => parts.logger.warn({}, problem));
  };
  try {
    const taken = owner === undefined ? await draw() : await parts.snapshots.take(owner, draw);
    if (failure) return failure;
    if (!made || !taken) throw new Error('a picture was neither drawn nor refused');
    const free = { snapshotId: null, creditsCost: 0 };
    const result: TakenPictures = 'snapshotId' in taken ? taken : free;
    return { kind: 'taken', durationMs: 0, result: made.result, taken: result };
  } catch (error) {
    return { kind: 'unpaid', durationMs, error };
  } finally {
    await discard();
  }
}

/** Renders once more what a dying process of the renderer has ended. */
async function renderTwice(
  parts: PictureParts,
  task: PictureTask & HowToRun,
  funds: FundsOf | undefined,
  signal: AbortSignal | undefined,
): Promise<RenderResult> {
  const first = await renderOnce(parts, task, funds, signal);
  return MAY_SUCCEED.has(first.kind) && !signal?.aborted ? renderOnce(parts, task, funds, signal) : first;
}

async function renderOnce(
  { renderer, ledger, pricing, clock, logger }: PictureParts,
  task: PictureTask & HowToRun,
  funds: FundsOf | undefined,
  signal: AbortSignal | undefined,
): Promise<RenderResult> {
  const events = { onStarted: () => {}, onProgress: () => {}, onPreview: () => {} };
  const render = renderer.render({ ...task, jobId: 'pictures', previewIntervalMs: 0 }, events);
  const cancel = () => render.stop('canceled');
  signal?.addEventListener('abort', cancel);
  const unwatch =
    funds &&
    watchFunds(
      funds,
      { ledger, pricing, clock, logger },
      { workedMs: () => render.workedMs(), onRanOut: () => render.stop('funds') },
    );
  try {
    if (signal?.aborted) cancel();
    return await render.result;
  } finally {
    unwatch?.();
    signal?.removeEventListener('abort', cancel);
  }
}

function failureOf(result: Exclude<RenderResult, Rendered>): ShortFailure {
  switch (result.kind) {
    case 'failed':
    case 'killed':
      return { ...result, kind: 'failed' };
    case 'stopped':
      throw result.reason === 'funds'
        ? new ScenepressError('insufficient_credits', 'The credits ran out while the pictures were drawn.')
        : new ScenepressError('not_running', 'The service is stopping.');
    case 'disk_full':
      throw new ScenepressError('storage_full', 'The disk is full. Try again later.');
    default:
      return { kind: 'died', message: result.message };
  }
}

/** Without what is undefined. */
function plain<Options extends object>(
  options: Options,
): { [Key in keyof Options]?: NonNullable<Options[Key]> } {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [Key in keyof Options]?: NonNullable<Options[Key]> };
}
