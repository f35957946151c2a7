import type { RenderLimits } from '../../model/limits.ts';
import type { SceneFailure } from '../../model/render-task.ts';
import type { JobEnded } from '../../model/zygote-messages.ts';

/** Describes a fork that ended before it reported anything. */
export function endedBefore({ signal, exitCode }: JobEnded): string {
  return `a fork ended by ${signal ?? `exit code ${exitCode}`} before it read the scene`;
}

/** Describes an encoding that ended without a verdict: with exit code 0 if the render sent no end of its video. */
export function silentEncoding({ exitCode, signal, reason }: JobEnded): SceneFailure {
  if (reason === 'memory')
    return {
      error: 'The video needs more memory to be encoded than the limit.',
      failedBy: 'limit:memory',
    };
  if (exitCode === 0)
    return {
      error:
        "The scene's process ended before it had sent its whole video. Scene code must not close files that it did not open.",
      failedBy: 'scene',
    };
  return {
    error: `The video can't be encoded: its process ended by ${signal ?? `exit code ${exitCode}`}.`,
    failedBy: 'scene',
  };
}

/** Describes a render that ended without a verdict. */
export function silentEnd({ exitCode, signal, reason }: JobEnded, limits: RenderLimits): SceneFailure {
  if (reason === 'memory') {
    const error = `The scene used more memory than the limit of ${readableSize(limits.memoryBytes)}.`;
    return { error, failedBy: 'limit:memory' };
  }
  if (reason === 'disk') {
    const error = `The scene's files were larger than the limit of ${readableSize(limits.diskBytes)} together.`;
    return { error, failedBy: 'limit:disk' };
  }
  if (reason === 'files') {
    const error = `The scene made more files than the limit of ${limits.files}, or folders that are too deep or can't be read.`;
    return { error, failedBy: 'limit:files' };
  }
  if (signal === 'SIGXFSZ') {
    const error = `The scene wrote a file larger than the limit of ${readableSize(limits.fileSizeBytes)}.`;
    return { error, failedBy: 'limit:fileSize' };
  }
  if (signal === 'SIGBUS') {
    const error =
      'The scene used a part of a mapped file that is not there (SIGBUS): the file is too short, or the ' +
      `scene's files were larger than the limit of ${readableSize(limits.diskBytes)} together.`;
    return { error, failedBy: 'scene' };
  }
  if (signal)
    return {
      error: `The scene's process was ended by ${signal} before the render was finished.`,
      failedBy: 'scene',
    };
  const error =
    `The scene's process ended with exit code ${exitCode} before the render was finished. ` +
    'Scene code must not exit Python itself (os._exit), nor close files that it did not open.';
  return { error, failedBy: 'scene' };
}

/** Formats a size in MiB, or in GiB for multiples of 0.5 GiB. */
export function readableSize(bytes: number): string {
  const mib = bytes / 1024 / 1024;
  return mib >= 1024 && mib % 512 === 0 ? `${mib / 1024} GiB` : `${Math.round(mib)} MiB`;
}

/** Formats a time in seconds, or in whole minutes. */
export function readableTime(ms: number): string {
  if (ms >= 60_000 && ms % 60_000 === 0) return `${ms / 60_000} minute${ms === 60_000 ? '' : 's'}`;
  return `${ms / 1000} second${ms === 1000 ? '' : 's'}`;
}

/** Describes a render that timed out. `place`: what its scene reported last. */
export function tooSlow({ timeoutMs }: RenderLimits, place: string): SceneFailure {
  const error = `The render took longer than the limit of ${readableTime(timeoutMs)}. ${place}`.trimEnd();
  return { error, failedBy: 'limit:time' };
}
