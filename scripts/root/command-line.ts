import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { configuredMirrors, type Mirrors } from './apt.ts';

/** A level of zstd: 274 MB in 32 s of CPU time; all levels unpack equally fast. 19: 245 MB in 620 s; 3: 302 MB in 6 s. */
export const DEFAULT_COMPRESSION = 9;

/** Options of the scripts for the renderer root. */
export interface RootOptions {
  mirrors: Mirrors;
  /** Folder for all build output; ignored by git. */
  output: string;
  /** Cache folder in it that speeds up the next build. */
  cache: string;
  acceptNewer: boolean;
  compression: number;
}

export function commandLine(): RootOptions {
  const { values } = parseArgs({
    options: {
      mirror: { type: 'string' },
      'security-mirror': { type: 'string' },
      'accept-newer': { type: 'boolean', default: false },
      compression: { type: 'string', default: String(DEFAULT_COMPRESSION) },
      output: { type: 'string', default: join(import.meta.dirname, '../../build') },
    },
  });
  const { mirror, 'security-mirror': security } = values;
  const configured = mirror && security ? undefined : configuredMirrors();
  return {
    mirrors: {
      main: mirror ?? (configured as Mirrors).main,
      security: security ?? (configured as Mirrors).security,
    },
    output: values.output,
    cache: join(values.output, 'cache'),
    acceptNewer: values['accept-newer'],
    compression: Number(values.compression),
  };
}
