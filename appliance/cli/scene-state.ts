import { createHash } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Joi from 'joi';
import { UserError } from '../support/user-error.ts';
import { printable } from './output.ts';

/** What a folder knows of a scene whose code is in one of its files. */
export interface KnownScene {
  sceneId: string;
  /** The revision that the file was made of, or became. */
  revision: number;
  /** SHA-256 of the code of that revision. */
  sha256: string;
}

/** The scenes of a folder by the names of their files. */
export type FolderState = Record<string, KnownScene>;

const FILE = '.scenepress-scenes.json';
const SCHEMA = Joi.object({
  server: Joi.string().required(),
  scenes: Joi.object()
    .pattern(
      // No file elsewhere.
      Joi.string().pattern(/^[^/\\]+\.py$/),
      Joi.object({
        sceneId: Joi.string().required(),
        revision: Joi.number().integer().min(1).required(),
        sha256: Joi.string().required(),
      }),
    )
    .required(),
});

/** Reads what was pulled to a folder and pushed from it. Error: `UserError` for scenes of another server. */
export async function readState(folder: string, server: string): Promise<FolderState> {
  const path = join(folder, FILE);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new UserError(`${path} can't be read: ${error.message}`, { cause: error });
  });
  if (text === undefined) return {};
  const found = parsed(text);
  if (!found)
    throw new UserError(
      `${path} is damaged. Remove it, then pull the scenes into another folder and compare.`,
    );
  if (found.server !== server) {
    const message = `The scenes in ${folder} are those of ${printable(found.server)}. Name it with --server, or use another folder.`;
    throw new UserError(message);
  }
  return found.scenes;
}

/** Written beside, then renamed: an interruption leaves the earlier one. */
export async function writeState(folder: string, server: string, scenes: FolderState): Promise<void> {
  const path = join(folder, FILE);
  await writeFile(`${path}.new`, `${JSON.stringify({ server, scenes }, null, 2)}\n`);
  await rename(`${path}.new`, path);
}

export function digestOf(code: string): string {
  return createHash('sha256').update(code).digest('hex');
}

function parsed(text: string): { server: string; scenes: FolderState } | undefined {
  try {
    const { error, value } = SCHEMA.validate(JSON.parse(text));
    return error ? undefined : value;
  } catch {
    return undefined;
  }
}
