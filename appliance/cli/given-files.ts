import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { kindOfFile } from '../../lib/internal.ts';

/** Paths of files, by the names under which scenes find them. */
export type GivenFiles = Readonly<Record<string, string>>;

/** What {@link addFileFlag} adds to the flags of a command. */
export interface FileFlags {
  file?: GivenFiles;
}

/** Scenes may run as another user. */
const [LISTED, READABLE] = [0o755, 0o644];

/** Adds the flag that gives scenes single files. */
export function addFileFlag(command: Command): Command {
  return command.option(
    '--file <name=path>',
    'a file that the scenes may read under a name, and no others; may be repeated',
    addFile,
  );
}

function addFile(text: string, earlier: GivenFiles = {}): GivenFiles {
  const [, name, path = ''] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (name === undefined)
    throw new InvalidArgumentError('Expected name=path, such as logo.png=brand/new.png.');
  if (!statSync(path, { throwIfNoEntry: false })?.isFile())
    throw new InvalidArgumentError(`There is no file ${path}.`);
  try {
    kindOfFile(name);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
  return { ...earlier, [name]: path };
}

/** A folder with copies of these files, which is removed when the program ends. */
export function folderWith(files: GivenFiles): string {
  const folder = mkdtempSync(join(tmpdir(), 'scenepress-files-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, LISTED);
  for (const [name, path] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true, mode: LISTED });
    copyFileSync(path, join(folder, name));
    chmodSync(join(folder, name), READABLE);
  }
  return folder;
}
