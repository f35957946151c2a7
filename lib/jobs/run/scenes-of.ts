import { abortable } from '../../async/abortable.ts';
import { ScenepressError } from '../../base/errors.ts';
import { checkSource, isClassName } from '../../model/render-request.ts';
import type { ListResult, SceneSource } from '../../model/render-task.ts';
import type { ScenesOptions } from '../../model/requests.ts';
import type { Role } from '../../model/roles.ts';
import type { Renderer } from '../../render/pool/renderer.ts';
import type { ShortRuns } from './short-runs.ts';

/**
 * As {@link scenesOf}, for an owner, when a worker is free for it. Errors: also `renderer_unavailable` in a process
 * without the role `worker`, and those of {@link ShortRuns.run}.
 */
export async function scenesOfOwner(
  {
    renderer,
    shortRuns,
    roles,
  }: { renderer: Pick<Renderer, 'listScenes'>; shortRuns: ShortRuns; roles: readonly Role[] },
  code: string,
  { signal, owner }: ScenesOptions,
): Promise<string[]> {
  assertWorker(roles, 'scenesOf');
  checkSource(code);
  const list = (how: { background: boolean }) => renderer.listScenes(code, how);
  // Jobs can have no other names.
  return scenesIn(await shortRuns.run(list, { owner, signal })).filter(isClassName);
}

/** Error: `renderer_unavailable` in a process without the role `worker`. */
export function assertWorker(roles: readonly Role[], method: string): void {
  if (roles.includes('worker')) return;
  const message = `This process has no role \`worker\`. Call \`${method}\` in a process that has it.`;
  throw new ScenepressError('renderer_unavailable', message);
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
