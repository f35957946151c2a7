import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ScenepressError } from '../base/errors.ts';
import { fingerprintOf, MANIFEST, type Manifest } from './backup-contents.ts';
import { entriesIn, wrongLinkIn } from './backup-entries.ts';

/** Options of {@link verifyBackup}. */
export interface VerifyOptions {
  /** Where the backup will be restored: where its links lead depends on it. */
  target: string;
  /** Ends the messages of errors: what was not done. */
  outcome: string;
  signal?: AbortSignal | undefined;
}

/**
 * Reads the whole backup and compares it with its manifest, which it returns: each file has its checksum, and there are no
 * other files or links. The structure of the database was checked before the manifest was written. Errors: `not_found`
 * without a manifest, `storage_damaged`.
 */
export async function verifyBackup(backup: string, options: VerifyOptions): Promise<Manifest> {
  const { outcome, signal } = options;
  const manifest = await readManifest(backup, outcome);
  await requireListed(backup, manifest, options);
  for (const [path, expected] of Object.entries(manifest.files)) {
    const found = await fingerprintOf(join(backup, path), signal).catch(() => undefined);
    signal?.throwIfAborted();
    if (found?.sha256 !== expected.sha256) {
      throw new ScenepressError(
        'storage_damaged',
        `The backup ${backup} is damaged: ${path} is ${found ? 'altered' : 'missing'}. ${outcome}`,
      );
    }
  }
  return manifest;
}

/** The manifest of a backup. Errors: as of {@link verifyBackup}. */
export async function readManifest(backup: string, outcome: string): Promise<Manifest> {
  try {
    const manifest = JSON.parse(await readFile(join(backup, MANIFEST), 'utf8')) as Manifest;
    if (manifest.format === 1) return manifest;
  } catch (cause) {
    throw new ScenepressError(
      'not_found',
      `${backup} is not a complete backup: it has no readable ${MANIFEST}. ${outcome}`,
      { cause },
    );
  }
  throw new ScenepressError(
    'storage_damaged',
    `${backup} was made by a later version. Restore it with that one.`,
  );
}

/** The first file or link in a backup that its manifest lacks; undefined if there is none. */
export async function unlistedIn(backup: string, { files, links }: Manifest): Promise<string | undefined> {
  const found = await entriesIn(backup);
  return [
    ...found.files.filter((path) => path !== MANIFEST && !Object.hasOwn(files, path)),
    ...Object.keys(found.links).filter(
      (path) => !Object.hasOwn(links, path) || links[path] !== found.links[path],
    ),
    ...found.others,
  ][0];
}

/**
 * Checks that nothing lies in the backup that the manifest lacks: a log beside the database would be replayed, and a link
 * could make the service publish, or write to, what it leads to. A manifest can be forged as well, so a link that it lists
 * is refused where a backup wouldn't contain it.
 */
async function requireListed(
  backup: string,
  manifest: Manifest,
  { target, outcome }: VerifyOptions,
): Promise<void> {
  const unlisted = await unlistedIn(backup, manifest);
  if (unlisted !== undefined) {
    throw new ScenepressError(
      'storage_damaged',
      `The backup ${backup} contains ${unlisted}, which ${MANIFEST} doesn't list. ${outcome} Remove it ` +
        'if it was added by mistake, or restore another copy.',
    );
  }
  const wrong = await wrongLinkIn(manifest.links, { from: backup, target });
  if (wrong === undefined) return;
  throw new ScenepressError(
    'storage_damaged',
    `In the backup ${backup}, ${wrong} is a link to other data of the folder or above it, or isn't in one of the ` +
      `folders for your own material. ${outcome} Restore another copy.`,
  );
}
