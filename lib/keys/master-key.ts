import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ScenepressError } from '../errors.ts';
import { realDisk, replaceFile } from '../storage/disk.ts';
import { explained } from '../storage/folder-check.ts';

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const FILE_NAME = 'master.key';
const CHECK_NAME = 'master.key.check';
const CHECK_TEXT = 'scenepress';

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

/**
 * The master key of a data folder: the one given (`SCENEPRESS_MASTER_KEY`, as hex), else the file `master.key` in
 * the folder, made on the first start. A small sealed text beside it tells at each start whether it is the right
 * one; a wrong or a missing key stops the start with instructions.
 */
export async function loadMasterKey(folder: string, given?: string): Promise<MasterKey> {
  return load(folder, given).catch((error: unknown) => {
    throw explained(error, folder);
  });
}

async function load(folder: string, given: string | undefined): Promise<MasterKey> {
  const [keyPath, checkPath] = [join(folder, FILE_NAME), join(folder, CHECK_NAME)];
  const first = !existsSync(checkPath);
  const where = given ? 'The master key that was given' : keyPath;
  if (!given && !existsSync(keyPath)) {
    if (!first) {
      throw new ScenepressError(
        'master_key',
        `${keyPath} is missing, and webhook secrets are encrypted with it. Put it back from where you keep it, ` +
          'or give it as SCENEPRESS_MASTER_KEY. Without it, the webhook secrets are lost: remove ' +
          `${checkPath} to start with a new key, then make new API keys.`,
      );
    }
    await write(folder, FILE_NAME, `${randomBytes(KEY_BYTES).toString('hex')}\n`);
  }
  const key = keyOf(given ?? (await readFile(keyPath, 'utf8')), where);
  if (first) await write(folder, CHECK_NAME, key.seal(CHECK_TEXT));
  try {
    key.open(await readFile(checkPath, 'utf8'));
  } catch (cause) {
    throw new ScenepressError(
      'master_key',
      `${where} is not the one that the secrets in ${folder} are encrypted with. Give the right one.`,
      { cause },
    );
  }
  return key;
}

function keyOf(hex: string, where: string): MasterKey {
  try {
    return MasterKey.fromHex(hex);
  } catch (cause) {
    const message = `${where} is damaged: a key is 64 hexadecimal digits. Put the right one there.`;
    throw new ScenepressError('master_key', message, { cause });
  }
}

async function write(folder: string, name: string, text: string): Promise<void> {
  await replaceFile(realDisk, folder, name, [Buffer.from(text)]);
}
