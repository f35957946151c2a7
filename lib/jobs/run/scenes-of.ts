import { abortable } from '../../async/abortable.ts';
import { ScenepressError } from '../../base/errors.ts';
import { checkSource, isClassName } from '../../model/render-request.ts';
import type { ListResult, SceneSource } from '../../model/render-task.ts';
import type { ScenesOptions } from '../../model/requests.ts';
import type { Renderer } from '../../render/pool/renderer.ts';
import { assertWorker, filesFor, type ReceivedFiles, type RunParts, runsOfOwner } from './runs-of-owner.ts';

/**
 * As {@link scenesOf}, for an owner, when a worker is free for it. Errors: also `renderer_unavailable` in a process
 * without the role `worker`, and those of {@link runsOfOwner}.
 */
export async function scenesOfOwner(
  parts: RunParts & { renderer: Pick<Renderer, 'listScenes'> },
  code: string,
  { owner, signal, files, sent }: Omit<ScenesOptions, 'files'> & ReceivedFiles,
): Promise<string[]> {
  assertWorker(parts.roles, 'scenesOf');
  checkSource(code);
  const set = await filesFor(parts, { owner, files, sent });
  const run = runsOfOwner(parts, { owner, signal, set });
  // Jobs can have no other names.
  return scenesIn(await run((how) => parts.renderer.listScenes(code, how))).filter(isClassName);
}

/**
 * Lists the scenes of a source. `signal` aborts the wait. `file`: see {@link ListTask}. Errors: `invalid_request`,
 * `renderer_unavailable`.
 */
export async function scenesOf(
  renderer: Pick<Renderer, 'listScenes'>,
  code: SceneSource,
  { signal, file }: { signal?: AbortSignal; file?: string } = {},
): Promise<string[]> {
  checkSource(code);
  signal?.throwIfAborted();
  const how = { background: false, ...(file !== undefined && { file }) };
  return scenesIn(await abortable(renderer.listScenes(code, how), signal));
}

function scenesIn(listed: ListResult): string[] {
  if (listed.kind === 'listed') return listed.scenes;
  if (listed.kind === 'failed') throw new ScenepressError('invalid_request', listed.error);
  throw new ScenepressError('renderer_unavailable', `The renderer failed: ${listed.message}.`);
}
