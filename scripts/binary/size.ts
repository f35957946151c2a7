import { BuildError } from '../root/build-error.ts';
import { DEFAULT_COMPRESSION } from '../root/command-line.ts';

/** What the manual says. */
const MOST_BYTES = 600_000_000;

/** Error: for an executable that is larger than the manual says, unless it was compressed less than by default. */
export function checkSize(sizeBytes: number, compression: number): void {
  if (sizeBytes < MOST_BYTES || compression < DEFAULT_COMPRESSION) return;
  throw new BuildError(
    `The executable has ${Math.round(sizeBytes / 1e6)} MB, not less than ${MOST_BYTES / 1e6} MB. Cut what the renderer ` +
      'root contains (scripts/root/trim.ts, scripts/root/tex-fonts.ts), or change the size in the manual.',
  );
}
