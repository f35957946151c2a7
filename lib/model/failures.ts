import type { SceneFault } from './render-task.ts';
import { SCENE_FAULTS } from './renderer-protocol.ts';

/** A job fails after so many attempts that a killed scene or an error of the service has ended. */
export const MOST_ATTEMPTS = 2;

export const CANCELED = 'Canceled';
export const CREDITS_RAN_OUT =
  'The credits ran out: the render cost more than the reserve and the balance cover.';
export const RENDERER_FAILED: string =
  `The renderer failed ${MOST_ATTEMPTS} times while rendering this scene. ` +
  'That is a fault of the renderer, not of the scene; please tell the operator of this service.';
export const NOT_STORED: string =
  'The video was rendered, but this service could not store it. The scene is not the cause; please tell the ' +
  'operator of this service.';

/**
 * What a job failed by. Unlike its error, it is for programs.
 *
 * | value | meaning |
 * |---|---|
 * | `scene` | the scene's code raised an error, ended its process, or left no valid video |
 * | `tex` | TeX could not set a formula of the scene |
 * | `limit:…` | the scene exceeded one of {@link RenderLimits}: `limit:time`, `limit:memory`, `limit:disk`, `limit:files`, `limit:fileSize`, `limit:frames`, or `limit:output` for the size of its video |
 * | `cancel` | it was canceled |
 * | `credits` | the credits of its owner ran out |
 * | `service` | the service could not render it or store its video; the scene is not the cause |
 *
 * Which of `scene`, `tex` and the limits is mostly reported by the scene's process, so that hostile code can choose it.
 */
export type FailedBy = SceneFault | 'cancel' | 'credits' | 'service';

/** All values of {@link FailedBy}. */
export const FAILED_BY: readonly FailedBy[] = [...SCENE_FAULTS, 'cancel', 'credits', 'service'];

/** Whether a job failed by its scene: its code, or a limit that it exceeded. */
export function isSceneFault(failedBy: FailedBy | undefined): failedBy is SceneFault {
  return SCENE_FAULTS.some((fault) => fault === failedBy);
}

/** The start of the log message when the state of a job could not be written. */
export const RECORDING_FAILED = 'Recording the state of a job failed';
