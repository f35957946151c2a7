import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { buildProgram } from '../binary/network-namespace.ts';

/** The single executable: `SCENEPRESS_FILE`, or that in `build/`, which is built if there is none. */
export function singleFile(): string {
  const given = process.env['SCENEPRESS_FILE'] ?? join(import.meta.dirname, '../../build/scenepress');
  return existsSync(given) ? given : buildProgram();
}
