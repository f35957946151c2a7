import type { Logger } from '../base/logger.ts';
import type { RenderLimits } from '../model/limits.ts';
import type { SpeechOptions } from '../model/speech.ts';
import type { RendererOptions } from '../render/start/launcher.ts';
import type { SceneFolder } from '../render/start/scene-folder.ts';
import type { Clock } from '../time/clock.ts';

/** Options of `LocalRenderer`. */
export interface LocalRendererOptions {
  /** An existing folder of this process for temporary files. */
  folder: string;
  /** A folder that scenes may read, but not write, and the file in it with the scenes; default: none. */
  sceneFolder?: SceneFolder;
  /** As in `RenderServiceOptions.studioFolder`; default: none. */
  studioFolder?: string;
  /**
   * A folder of this process for the last MP4 of each scene, at most 2 GiB in all: the next render of the scene copies the
   * frames that are equal. Default: none, and each render encodes all frames.
   */
  cacheFolder?: string;
  /** Concurrent renders; default: one per CPU. */
  workers?: number;
  /** What one render may use; default: `DEFAULT_LIMITS`. */
  limits?: Partial<RenderLimits>;
  /** Default: what set-up has made. */
  renderer?: RendererOptions;
  /** As in `RenderServiceOptions.speech`; audio is kept only with a `cacheFolder` of its own. */
  speech?: SpeechOptions;
  /** Default: silence. */
  logger?: Logger;
  /** Default: the system's. */
  clock?: Clock;
}
