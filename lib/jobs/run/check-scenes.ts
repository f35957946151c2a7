import { ScenepressError } from '../../base/errors.ts';
import type { Names } from '../../base/known-options.ts';
import { audioOf } from '../../model/audio-rules.ts';
import type { CheckedSource, CheckOptions, CheckRequest } from '../../model/checked-source.ts';
import { type Finding, findingOf } from '../../model/finding.ts';
import { paramsOf } from '../../model/param-rules.ts';
import { type DeclaredParam, type Params, refused, undeclared } from '../../model/params.ts';
import { frameSizeOf, QUALITIES } from '../../model/qualities.ts';
import { checkSource, parseRenderRequest } from '../../model/render-request.ts';
import type {
  CheckResult,
  CheckTask,
  ListResult,
  ListTask,
  SceneSource,
  ShortFailure,
} from '../../model/render-task.ts';
import { isLeftOut, LEFT_OUT } from '../../owner-files/file-sets.ts';
import type { ReadSource, ReadTask } from '../../render/reading/scene-reader.ts';
import {
  assertWorker,
  filesFor,
  type ReceivedFiles,
  type RunParts,
  type Runs,
  runsOfOwner,
  withFiles,
} from './runs-of-owner.ts';

/** Runs code of a scene on a worker. */
export interface ChecksScenes {
  listScenes(code: SceneSource, how: Omit<ListTask, 'listScenesOf'>): Promise<ListResult>;
  check(task: CheckTask): Promise<CheckResult>;
  read(task: ReadTask, signal?: AbortSignal): Promise<ReadSource | undefined>;
}

/** What a check needs of a service. */
export interface CheckParts extends RunParts {
  renderer: ChecksScenes;
}

const NOT_READ = 'The code could not be read in time.';
const READ_OTHERWISE = 'Try again, or let the check run it.';
/** The reader reads one after another, and lets few of an owner wait. */
const READ_AT_ONCE = 2;

/** The options of a check. */
export const CHECK_REQUEST: Names<CheckRequest> = {
  ...{ className: true, quality: true, aspectRatio: true, fps: true },
  ...{ owner: true, signal: true, dryRun: true, files: true, params: true, audio: true },
};

/**
 * As {@link checkScenes}, for an owner, when workers are free for it. Errors: `invalid_request` for options that no render
 * can have, `renderer_unavailable` in a process without the role `worker`, and those of {@link ShortRuns.run}.
 */
export async function checkOfOwner(
  parts: CheckParts,
  code: string,
  request: Omit<CheckRequest, 'files'> & ReceivedFiles,
): Promise<CheckedSource> {
  return (await readOrRun(parts, code, request)) ?? notRead();
}

/** Undefined for a source that is only read, and could not be in time. */
async function readOrRun(
  parts: CheckParts,
  code: string,
  request: Omit<CheckRequest, 'files'> & ReceivedFiles,
): Promise<CheckedSource | undefined> {
  const { renderer, roles } = parts;
  const { owner, signal, className, dryRun = true, files, sent, params, audio, ...options } = request;
  assertWorker(roles, 'check');
  parseRenderRequest({ code, className: className ?? 'Scene', ...options });
  const set = await filesFor(parts, { owner, files, sent });
  const named = {
    ...options,
    ...(className !== undefined && { className }),
    ...(params && { params }),
    ...(audio && { audio }),
  };
  const found = dryRun
    ? await checkScenes(renderer, code, named, runsOfOwner(parts, { owner, signal, set }))
    : await withFiles(parts, set, (ofFiles) =>
        readIfInTime(renderer, { code, className, owner, params, ...ofFiles }, signal),
      );
  if (found && isLeftOut(set)) addFinding(found.findings, leftOut());
  return found;
}

/** The warning that an owner has too many files for a scene to get them. */
export function leftOut(): Finding {
  const finding = findingOf({ error: LEFT_OUT, failedBy: 'scene' });
  return { ...finding, kind: 'scene:file', severity: 'warning' };
}

/**
 * Checks several sources, of which as many wait for workers as the service has. One that could not be read in time has a
 * finding `limit:time`; error: `renderer_unavailable` if none could be.
 */
export async function checkManyOfOwner(
  parts: CheckParts & { workers: number },
  codes: readonly string[],
  request: Omit<CheckRequest, 'files'> & ReceivedFiles,
): Promise<CheckedSource[]> {
  const found: (CheckedSource | undefined)[] = [];
  const left = codes.entries();
  const checkNext = async () => {
    for (const [index, code] of left) found[index] = await readOrRun(parts, code, request);
  };
  const atOnce = request.dryRun === false ? READ_AT_ONCE : 2 * parts.workers;
  await Promise.all(Array.from({ length: Math.min(codes.length, atOnce) }, checkNext));
  if (codes.length > 0 && found.every((source) => source === undefined)) return notRead();
  return found.map((source) => source ?? lateSource());
}

/** What is certainly wrong in a source, which is only read. Errors: `invalid_request`, and those of {@link SceneReader}. */
export async function readScenes(
  renderer: Pick<ChecksScenes, 'read'>,
  task: ReadTask & { params?: Params | undefined },
  signal?: AbortSignal,
): Promise<CheckedSource> {
  return (await readIfInTime(renderer, task, signal)) ?? notRead();
}

/** Undefined if it could not be read in time. */
async function readIfInTime(
  renderer: Pick<ChecksScenes, 'read'>,
  { params: given, ...task }: ReadTask & { params?: Params | undefined },
  signal?: AbortSignal,
): Promise<CheckedSource | undefined> {
  checkSource(task.code);
  const valid = paramsOf(given);
  const read = await renderer.read(task, signal);
  if (!read) return undefined;
  const { findings, params } = read;
  if (valid)
    for (const finding of [...undeclared(valid, params), ...refused(valid, params)])
      addFinding(findings, finding);
  const ok = !findings.some(({ severity }) => severity === 'error');
  return { ok, findings, params, scenes: [] };
}

/**
 * Runs the scenes of a source without drawing them, and returns what is wrong with them. `run` waits for a worker. Errors:
 * `invalid_request` for a source that is empty, `renderer_unavailable`, and those of `run`.
 */
export async function checkScenes(
  renderer: ChecksScenes,
  code: SceneSource,
  {
    className,
    quality = 'medium',
    aspectRatio = '16:9',
    fps = QUALITIES[quality]?.fps,
    params: given,
    audio: sounds,
  }: CheckOptions,
  run: Runs,
): Promise<CheckedSource> {
  // A file's bytes and its classes have fewer rules than a request: here any stands for them.
  const text = typeof code === 'string' ? code : ' ';
  checkSource(code);
  parseRenderRequest({ code: text, className: '_', quality, aspectRatio, fps });
  const params = paramsOf(given);
  const audio = audioOf(sounds);
  if (audio && className === undefined)
    throw new ScenepressError('invalid_request', 'audio needs className: the scene in whose video it is.');
  const found: CheckedSource = { ok: true, findings: [], params: [], scenes: [] };
  const listed = className === undefined ? await run((how) => renderer.listScenes(code, how)) : undefined;
  if (listed && listed.kind !== 'listed') return addFailure(found, listed);
  const names = className === undefined ? (listed?.scenes ?? []) : [className];
  if (names.length === 0) return addFailure(found, NO_SCENE);
  for (const name of names) {
    const size = frameSizeOf(quality, aspectRatio);
    const task = {
      checkSceneOf: code,
      className: name,
      ...size,
      fps,
      ...(params && { params }),
      ...(audio && { audio }),
    };
    const checked = await run((how) => renderer.check({ ...task, ...how }));
    if (checked.kind !== 'died') addParams(found.params, checked.params ?? []);
    if (checked.kind !== 'checked') {
      addFailure(found, checked);
      continue;
    }
    const { frames, seconds, readsPixels, plays } = checked;
    found.scenes.push({ className: name, frames, seconds, readsPixels, plays });
  }
  // A scene that has failed may declare others after its error.
  if (params && found.ok)
    for (const finding of undeclared(params, found.params)) addFinding(found.findings, finding);
  return found;
}

function notRead(): never {
  throw new ScenepressError('renderer_unavailable', `${NOT_READ} ${READ_OTHERWISE}`);
}

/** Of several sources, one that could not be read in time: as a dry run that was too slow. */
function lateSource(): CheckedSource {
  const finding = { ...findingOf({ error: NOT_READ, failedBy: 'limit:time' }), hint: READ_OTHERWISE };
  return { ok: false, findings: [finding], params: [], scenes: [] };
}

/** Adds declarations, each once. */
function addParams(all: DeclaredParam[], more: readonly DeclaredParam[]): void {
  all.push(...more.filter(({ name }) => !all.some((other) => other.name === name)));
}

/** Of a source without a scene. */
export const NO_SCENE: ShortFailure = {
  kind: 'failed',
  durationMs: 0,
  error: 'The code defines no scene.',
  failedBy: 'scene',
  finding: {
    ...findingOf({ error: 'The code defines no scene.', failedBy: 'scene' }),
    kind: 'scene:class',
    hint: 'Define a class that is derived from `Scene`, with a method `construct`.',
  },
};

/** Adds the finding of a failure, unless it is there already, as of an error of the whole file. */
export function addFailure<Source extends Pick<CheckedSource, 'ok' | 'findings'>>(
  found: Source,
  failure: ShortFailure,
): Source {
  if (failure.kind === 'died')
    throw new ScenepressError('renderer_unavailable', `The renderer failed: ${failure.message}.`);
  found.ok = false;
  addFinding(found.findings, failure.finding ?? findingOf(failure));
  return found;
}

/** Adds a finding in the order of lines, unless it is there already. */
export function addFinding(findings: Finding[], finding: Finding): void {
  const text = JSON.stringify(finding);
  if (findings.some((other) => JSON.stringify(other) === text)) return;
  findings.push(finding);
  findings.sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
}
