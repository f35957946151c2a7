import { join } from 'node:path';
import type { RenderServiceOptions } from '../../lib/index.ts';
import type { Config } from '../config/config.ts';

/** What says texts, by the configuration; `place`: a folder in which audio is kept. */
export function speechOf(
  config: Config,
  place: string | undefined,
): Pick<RenderServiceOptions, 'speech'> | undefined {
  const { speechCommand, speechUrl, speechVersion, speechTimeoutSeconds } = config;
  if (speechCommand === undefined && speechUrl === undefined) return undefined;
  return {
    speech: {
      ...(speechCommand !== undefined && { command: speechCommand }),
      ...(speechUrl !== undefined && { url: speechUrl }),
      ...(speechVersion !== undefined && { version: speechVersion }),
      timeoutMs: speechTimeoutSeconds * 1000,
      concurrency: config.speechConcurrency,
      cacheBytes: config.speechCacheGb * 1024 ** 3,
      ...(place !== undefined && { cacheFolder: join(place, 'speech') }),
    },
  };
}
