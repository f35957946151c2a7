import { abortable } from '../abortable.ts';
import { ScenepressError } from '../errors.ts';
import type { Renderer } from '../render/pool/renderer.ts';
import type { Role, ScenesOptions } from '../render-service-options.ts';
import type { Owners } from './owners.ts';

/**
 * As {@link scenesOf}, for an owner. Errors: also `renderer_unavailable` in a process without the role `worker`, and
 * `too_many_failures` when the owner has used up its budget.
 */
export async function scenesOfOwner(
  {
    renderer,
    owners,
    roles,
  }: { renderer: Pick<Renderer, 'listScenes'>; owners: Owners; roles: readonly Role[] },
  code: string,
  { signal, owner }: ScenesOptions,
): Promise<string[]> {
  if (!roles.includes('worker')) {
    const message = 'This process has no role `worker`. Call `scenesOf` in a process that has it.';
    throw new ScenepressError('renderer_unavailable', message);
  }
  if (owner === undefined) return scenesOf(renderer, code, signal);
  owners.assertWithinBudget(owner);
  const listScenes = async (code: string) => {
    const listed = await renderer.listScenes(code);
    if (listed.kind !== 'died') owners.noteUnpaid(owner, listed.durationMs);
    return listed;
  };
  return scenesOf({ listScenes }, code, signal);
}

/** Lists the scenes of a source. `signal` aborts the wait. Errors: `invalid_request`, `renderer_unavailable`. */
export async function scenesOf(
  renderer: Pick<Renderer, 'listScenes'>,
  code: string,
  signal?: AbortSignal,
): Promise<string[]> {
  if (typeof code !== 'string' || code === '')
    throw new ScenepressError('invalid_request', 'code is required');
  signal?.throwIfAborted();
  const listed = await abortable(renderer.listScenes(code), signal);
  if (listed.kind === 'listed') return listed.scenes;
  if (listed.kind === 'failed') throw new ScenepressError('invalid_request', listed.error);
  throw new ScenepressError('renderer_unavailable', `The renderer failed: ${listed.message}.`);
}
