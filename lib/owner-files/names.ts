import { ScenepressError } from '../base/errors.ts';
import { isStorableText } from '../base/storable-text.ts';
import { FILE_EXTENSIONS, kindOfName } from '../model/file-kinds.ts';

const LONGEST_BYTES = 512;
const LONGEST_SEGMENT_BYTES = 200;
const MOST_SEGMENTS = 8;
/** Control characters, and what is no part of a name on other systems. */
const UNUSABLE = /[\p{Cc}\p{Cf}\\<>:"|?*]/u;

/** What the renderer itself writes in the current folder of a scene, or beside it: files of these names would be hidden. */
const HIDDEN = /^(?:(?:channel|tmp|section-videos|media\/(?:Tex|texts|media))\/|(?:output\.png|scene\.py)$)/;

/** What the name of a file says about it. */
export type NamedKind = NonNullable<ReturnType<typeof kindOfName>>;

/**
 * The kind of a file by its name, a relative path such as `voices/intro.mp3`. Error: `invalid_request` for one that could
 * lead somewhere else, that scenes would not find, or that ends like no kind.
 */
export function kindOfFile(name: string): NamedKind {
  if (!isStorableText(name, LONGEST_BYTES) || name === '')
    throw invalid(`The name of a file is a text of at most ${LONGEST_BYTES} bytes.`);
  assertPath(name);
  if (HIDDEN.test(name))
    throw invalid(
      `Scenes would not find ${name}: the renderer has files or a folder of its own there. Choose another name.`,
    );
  const kind = kindOfName(name);
  if (kind) return kind;
  throw invalid(`${name} is of no kind that scenes use. Names end in ${FILE_EXTENSIONS.join(', ')}.`);
}

/** Whether names with these ends stand for contents of one format. */
export function isSameFormat(one: string, other: string): boolean {
  const format = (extension: string) => (extension === 'jpeg' ? 'jpg' : extension);
  return format(one) === format(other);
}

/** A folder of files, such as `voices`. Error: `invalid_request`. */
export function validFolder(folder: string): string {
  if (!isStorableText(folder, LONGEST_BYTES) || folder === '') throw invalid('A folder is a text.');
  assertPath(folder);
  return folder;
}

/** The folders that a file is in, the outermost first. */
export function foldersOf(name: string): string[] {
  const parts = name.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** Error: `invalid_request` if a name is also the folder of another. */
export function assertNoFolder(names: Iterable<string>): void {
  const all = new Set(names);
  for (const name of all) {
    const folder = foldersOf(name).find((folder) => all.has(folder));
    if (folder !== undefined) throw sameAsFolder(folder);
  }
}

/** The error for a name that is also a folder. */
export function sameAsFolder(name: string): ScenepressError {
  return invalid(`${name} would be a file and a folder. Choose another name.`);
}

function assertPath(path: string): void {
  const segments = path.split('/');
  if (segments.length > MOST_SEGMENTS)
    throw invalid(`The name of a file has at most ${MOST_SEGMENTS} parts between slashes.`);
  for (const segment of segments) {
    const isPlain =
      segment !== '' &&
      !segment.startsWith('.') &&
      !UNUSABLE.test(segment) &&
      segment === segment.trim() &&
      Buffer.byteLength(segment) <= LONGEST_SEGMENT_BYTES;
    if (!isPlain)
      throw invalid(
        `${JSON.stringify(path)} is no name of a file: its parts between slashes begin with no dot, are not empty and have ` +
          `no control characters and none of \\ < > : " | ? *.`,
      );
  }
}

export function invalid(message: string): ScenepressError {
  return new ScenepressError('invalid_request', message);
}
