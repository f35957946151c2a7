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
 * The cause of a failure: the scene (its code, or a limit it exceeded), a cancellation, the end of the owner's credits, or
 * the service itself (a renderer that died, a full disk).
 */
export type FailedBy = 'scene' | 'cancel' | 'credits' | 'service';

/** The start of the log message when the state of a job could not be written. */
export const RECORDING_FAILED = 'Recording the state of a job failed';
