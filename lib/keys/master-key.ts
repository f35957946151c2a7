import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { ScenepressError } from '../errors.ts';
import { type Disk, realDisk, replaceFile } from '../storage/disk.ts';
import { explained } from '../storage/folder-check.ts';

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const FILE_NAME = 'master.key';
/** The key that a rotation is under way to. */
const NEXT_NAME = 'master.key.next';
/** Keys that were replaced, each with the time: older backups need them. */
const FORMER_NAME = 'master.key.until-';
/** Lines that the right key opens: one, or two while a rotation is under way. */
const CHECK_NAME = 'master.key.check';
const CHECK_TEXT = 'scenepress';

/** Folders whose key this process is replacing: nobody else ends that. */
const rotating = new Set<string>();

/** Seals small secrets (AES-256-GCM), so that a copy of the data without the key doesn't give them away. */
export class MasterKey {
  readonly #key: Buffer;

  /** `key`: 32 bytes. */
  constructor(key: Buffer) {
    if (key.length !== KEY_BYTES) {
      throw new ScenepressError(
        'master_key',
        `A master key is ${KEY_BYTES} bytes, as 64 hexadecimal digits.`,
      );
    }
    this.#key = key;
  }

  static fromHex(text: string): MasterKey {
    return new MasterKey(Buffer.from(/^[0-9a-fA-F]*$/.test(text.trim()) ? text.trim() : '', 'hex'));
  }

  /** Text to base64url: nonce, ciphertext, tag. */
  seal(text: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce);
    return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString(
      'base64url',
    );
  }

  /** Whether it opens this, or one of these. */
  opens(sealed: string | string[]): boolean {
    return [sealed].flat().some((text) => {
      try {
        this.open(text);
        return true;
      } catch {
        return false;
      }
    });
  }

  /** The reverse; `master_key` when it was sealed with another key or was altered. */
  open(sealed: string): string {
    const bytes = Buffer.from(sealed, 'base64url');
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      return (
        decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
      );
    } catch (cause) {
      throw new ScenepressError(
        'master_key',
        'This is not the master key that the secrets were sealed with.',
        {
          cause,
        },
      );
    }
  }
}

export interface MasterKeyOptions {
  /** As hex (`SCENEPRESS_MASTER_KEY`); default: the file `master.key` in the folder. */
  given?: string | undefined;
  /**
   * Finds a secret that is sealed in the folder's database, or undefined when there is none: it tells whether a rotation
   * that was cut off had come as far as the secrets. Without this option no rotation is expected.
   */
  sealed?: () => Promise<string | undefined>;
  disk?: Disk;
}

/**
 * The master key of a data folder: the one given, else the file `master.key` in the folder, made on the first start. A
 * small sealed text beside it tells at each start whether it is the right one; a wrong or a missing key stops the start
 * with instructions.
 */
export async function loadMasterKey(folder: string, options: MasterKeyOptions = {}): Promise<MasterKey> {
  return load(folder, options).catch((error: unknown) => {
    throw explained(error, folder);
  });
}

async function load(folder: string, options: MasterKeyOptions): Promise<MasterKey> {
  const { given, sealed, disk = realDisk } = options;
  const [keyPath, checkPath] = [join(folder, FILE_NAME), join(folder, CHECK_NAME)];
  const checks = (await disk.read(checkPath))?.toString().trim().split('\n');
  const where = given ? 'The master key that was given' : keyPath;
  let hex = given ?? (await disk.read(keyPath))?.toString();
  if (hex === undefined) {
    if (checks) {
      throw new ScenepressError(
        'master_key',
        `${keyPath} is missing, and webhook secrets are encrypted with it. Put it back from where you keep it, ` +
          'or give it as SCENEPRESS_MASTER_KEY. Without it, the webhook secrets are lost: remove ' +
          `${checkPath} to start with a new key, then make new API keys.`,
      );
    }
    hex = newHex();
    await write(disk, folder, FILE_NAME, `${hex}\n`);
  }
  const key = keyOf(hex, where);
  if (!checks) {
    await write(disk, folder, CHECK_NAME, key.seal(CHECK_TEXT));
    return key;
  }
  const next = given ? undefined : (await disk.read(join(folder, NEXT_NAME)))?.toString();
  const candidates = [key, ...(next === undefined ? [] : [keyOf(next, join(folder, NEXT_NAME))])];
  const isUnderWay = checks.length > 1 || next !== undefined;
  const sample = (isUnderWay ? await sealed?.() : undefined) ?? checks;
  const right = candidates.find((candidate) => candidate.opens(checks) && candidate.opens(sample));
  if (!right) {
    throw new ScenepressError(
      'master_key',
      `${where} is not the one that the secrets in ${folder} are encrypted with. Give the right one.`,
    );
  }
  if (sealed && isUnderWay && !rotating.has(resolve(folder)))
    await settle(disk, folder, right, right !== key);
  return right;
}

/**
 * Replaces the master key of a folder: by a new one in `master.key`, or, where the key isn't kept there, by `given`.
 * `reseal` seals all secrets with the new key, all or none of them. Cut off at any moment, it has either happened or not:
 * {@link loadMasterKey} finds out. A key from `master.key` is kept beside as `master.key.until-…`, because older backups
 * need it; answers with that file's name, or null when the key isn't kept in the folder.
 */
export async function replaceMasterKey(folder: string, replacement: Replacement): Promise<string | null> {
  const path = resolve(folder);
  if (rotating.has(path)) {
    throw new ScenepressError('conflict', `The master key of ${folder} is being replaced already.`);
  }
  rotating.add(path);
  try {
    return await replace(folder, replacement);
  } finally {
    rotating.delete(path);
  }
}

interface Replacement {
  current: MasterKey;
  given?: string | undefined;
  reseal: (next: MasterKey) => Promise<void>;
  disk?: Disk;
}

async function replace(
  folder: string,
  { current, given, reseal, disk = realDisk }: Replacement,
): Promise<string | null> {
  const hex = given ?? newHex();
  const next = keyOf(hex, 'The new master key');
  let former: string | null = null;
  try {
    if (given === undefined) {
      former = await keepFormer(disk, folder);
      await write(disk, folder, NEXT_NAME, `${hex}\n`);
    }
    // From here on either is right, until the secrets say which.
    await write(disk, folder, CHECK_NAME, `${current.seal(CHECK_TEXT)}\n${next.seal(CHECK_TEXT)}`);
    await reseal(next);
  } catch (error) {
    await settle(disk, folder, current, false).catch(() => {}); // The next start does it.
    if (former !== null) await disk.remove(join(folder, former)).catch(() => {});
    throw error;
  }
  await settle(disk, folder, next, given === undefined);
  return former;
}

async function keepFormer(disk: Disk, folder: string): Promise<string | null> {
  const bytes = await disk.read(join(folder, FILE_NAME));
  if (!bytes) return null;
  const name = `${FORMER_NAME}${new Date().toISOString().replaceAll(':', '-')}`;
  await write(disk, folder, name, bytes.toString());
  return name;
}

/** Ends a rotation, whichever way it went. */
async function settle(disk: Disk, folder: string, right: MasterKey, moveNext: boolean): Promise<void> {
  const next = join(folder, NEXT_NAME);
  if (moveNext) await disk.rename(next, join(folder, FILE_NAME));
  else await disk.remove(next);
  await disk.syncFolder(folder);
  await write(disk, folder, CHECK_NAME, right.seal(CHECK_TEXT));
}

function newHex(): string {
  return randomBytes(KEY_BYTES).toString('hex');
}

function keyOf(hex: string, where: string): MasterKey {
  try {
    return MasterKey.fromHex(hex);
  } catch (cause) {
    const message = `${where} is damaged: a key is 64 hexadecimal digits. Put the right one there.`;
    throw new ScenepressError('master_key', message, { cause });
  }
}

async function write(disk: Disk, folder: string, name: string, text: string): Promise<void> {
  await replaceFile(disk, folder, name, [Buffer.from(text)]);
}
