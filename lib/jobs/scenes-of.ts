import { abortable } from '../abortable.ts';
import { ScenepressError } from '../errors.ts';
import type { Renderer } from '../render/pool/renderer.ts';

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
