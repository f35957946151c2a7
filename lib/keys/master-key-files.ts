import { join } from 'node:path';
import { ScenepressError } from '../base/errors.ts';
import { known, type Names } from '../base/known-options.ts';
import type { Random } from '../base/random.ts';
import { DATA_FILES, FORMER_MASTER_KEY_PREFIX } from '../files/data-files.ts';
import { type Disk, replaceFile } from '../files/disk.ts';
import { explained } from '../files/folder-faults.ts';
import { type Clock, isoTime } from '../time/clock.ts';
import { MasterKey } from './master-key.ts';
import { MasterKeys } from './master-keys.ts';

const CHECK_TEXT = 'scenepress';

/** Where the master key comes from. */
export interface MasterKeyOptions {
  /** As hex (`SCENEPRESS_MASTER_KEY`); default: the file `master.key` in the folder, created on the first start. */
  given?: string | undefined;
  /**
   * Whether a key must be given where it is not kept in the folder, such as with a database; default: true. If not, the
   * first use of a missing key is the error.
   */
  required?: boolean;
  /** Whether a database that has not seen a master key records which one it is; default: true. */
  records?: boolean;
}

export const MASTER_KEY_OPTIONS: Names<MasterKeyOptions> = { given: true, required: true, records: true };

/**
 * The master key files of a data folder. A rotation has three states and may be interrupted in any of them:
 *
 * ```
 *            begin()                             finish()
 *  one key ──────────▶ two keys: new secrets ───────────────▶ one key, the new one
 *                      are sealed with the new one,
 *                      old ones again, one by one
 * ```
 *
 * During a rotation `master.key.next` exists. When the key is stored in the folder, the file holds the new key. With
 * an external key, it holds each of the two keys encrypted with the other, so either can decrypt everything; new
 * secrets are sealed with the key given at the start.
 */
export class MasterKeyFiles {
  readonly #folder: string;
  readonly #disk: Disk;
  readonly #clock: Clock;
  readonly #random: Random;
  #loaded: Promise<MasterKeys> | undefined;
  #isGiven = false;

  constructor(folder: string, disk: Disk, { clock, random }: { clock: Clock; random: Random }) {
    this.#folder = folder;
    this.#disk = disk;
    this.#clock = clock;
    this.#random = random;
  }

  /**
   * Loads the master keys; returns the same object until {@link close}. Verifies the key by a small sealed text.
   * Error: `master_key`, with instructions, when it is wrong or missing.
   */
  async load(options: MasterKeyOptions = {}): Promise<MasterKeys> {
    known('masterKeys', options, MASTER_KEY_OPTIONS);
    this.#loaded ??= this.#load(options).catch((error: unknown) => {
      this.#loaded = undefined;
      throw explained(error, this.#folder);
    });
    return this.#loaded;
  }

  /** Makes the next {@link load} read the files again. */
  close(): void {
    this.#loaded = undefined;
  }

  /** Whether a rotation is in progress or was interrupted. */
  async isRotating(): Promise<boolean> {
    return (await this.#disk.stampOf(this.#path(DATA_FILES.nextMasterKey))) !== undefined;
  }

  /**
   * Starts a rotation: both keys are valid, and secrets are sealed with the new one. The new key is generated, or
   * `given` when keys are external. Errors: `invalid_request`, `master_key`, `conflict` when the new key is the
   * current one.
   */
  async begin(given: string | undefined): Promise<void> {
    const keys = await this.load();
    if (this.#isGiven && given === undefined) {
      throw new ScenepressError(
        'invalid_request',
        'The master key is not kept in the data folder: give the new key, too.',
      );
    }
    if (!this.#isGiven && given !== undefined) {
      const message =
        'The master key is kept in the data folder and the new one is generated there: do not give a key.';
      throw new ScenepressError('invalid_request', message);
    }
    const { current } = keys;
    const next = given === undefined ? MasterKey.random(this.#random) : keyOf(given, 'The new master key');
    const lines =
      given === undefined
        ? [next.toHex()]
        : [current.seal(next.toHex(), this.#random), next.seal(current.toHex(), this.#random)];
    if (next.id !== current.id) await this.#write(DATA_FILES.nextMasterKey, lines.join('\n'));
    keys.change(next);
  }

  /**
   * Ends a rotation after all secrets are sealed with the current key. The former `master.key` is kept for older
   * backups; returns its file name, or null when keys are external.
   */
  async finish(): Promise<string | null> {
    const { current } = await this.load();
    const next = (await this.#read(DATA_FILES.nextMasterKey)) ?? '';
    const isKept = !this.#isGiven && isPlain(next);
    const former = isKept ? await this.#keepFormer() : null;
    await this.#write(DATA_FILES.masterKeyCheck, current.seal(CHECK_TEXT, this.#random));
    if (isKept)
      await this.#disk.rename(this.#path(DATA_FILES.nextMasterKey), this.#path(DATA_FILES.masterKey));
    else await this.#disk.remove(this.#path(DATA_FILES.nextMasterKey));
    await this.#disk.syncFolder(this.#folder);
    return former;
  }

  async #load({ given }: MasterKeyOptions): Promise<MasterKeys> {
    this.#isGiven = given !== undefined;
    const checks = (await this.#read(DATA_FILES.masterKeyCheck))?.split('\n');
    const where = given === undefined ? this.#path(DATA_FILES.masterKey) : 'The master key that was given';
    let hex = given ?? (await this.#read(DATA_FILES.masterKey));
    if (hex === undefined) {
      if (checks) throw this.#missing();
      hex = MasterKey.random(this.#random).toHex();
      await this.#write(DATA_FILES.masterKey, hex);
    }
    const key = keyOf(hex, where);
    const keys = await this.#keysBeside(key);
    if (!checks) await this.#write(DATA_FILES.masterKeyCheck, key.seal(CHECK_TEXT, this.#random));
    else if (!keys?.current.decrypts(checks) && !keys?.former?.decrypts(checks)) throw this.#wrong(where);
    return keys ?? new MasterKeys(key, { random: this.#random });
  }

  /** The keys of an interrupted rotation; undefined when `key` is neither of them. */
  async #keysBeside(key: MasterKey): Promise<MasterKeys | undefined> {
    const next = await this.#read(DATA_FILES.nextMasterKey);
    const random = this.#random;
    if (next === undefined) return new MasterKeys(key, { random });
    if (isPlain(next)) {
      const nextKey = keyOf(next, this.#path(DATA_FILES.nextMasterKey));
      if (!this.#isGiven) return new MasterKeys(nextKey, { former: key, random });
      const kept = await this.#read(DATA_FILES.masterKey);
      const other = nextKey.id === key.id && kept !== undefined ? keyOf(kept, DATA_FILES.masterKey) : nextKey;
      return new MasterKeys(key, { former: other, random });
    }
    const sealed = next.split('\n').find((line) => key.decrypts(line));
    return sealed === undefined
      ? undefined
      : new MasterKeys(key, { former: MasterKey.fromHex(key.decrypt(sealed)), random });
  }

  async #keepFormer(): Promise<string | null> {
    const hex = await this.#read(DATA_FILES.masterKey);
    if (hex === undefined) return null;
    for (const name of await this.#disk.list(this.#folder)) {
      if (!name.startsWith(FORMER_MASTER_KEY_PREFIX)) continue;
      // Left by an interrupted rotation: incomplete, or already complete.
      if (name.endsWith('.new')) await this.#disk.remove(this.#path(name));
      else if ((await this.#read(name)) === hex) return name;
    }
    const name = `${FORMER_MASTER_KEY_PREFIX}${isoTime(this.#clock.now()).replaceAll(':', '-')}`;
    await this.#write(name, hex);
    return name;
  }

  #missing(): ScenepressError {
    return new ScenepressError(
      'master_key',
      `${this.#path(DATA_FILES.masterKey)} is missing, and webhook secrets are encrypted with it. Put it back from where you ` +
        'keep it, or give it as SCENEPRESS_MASTER_KEY. Without it, the webhook secrets are lost: remove ' +
        `${this.#path(DATA_FILES.masterKeyCheck)} to start with a new key, then make new API keys.`,
    );
  }

  #wrong(where: string): ScenepressError {
    return new ScenepressError(
      'master_key',
      `${where} is not the one that the secrets in ${this.#folder} are encrypted with. Give the right one.`,
    );
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }

  async #read(name: string): Promise<string | undefined> {
    return (await this.#disk.read(this.#path(name)))?.toString().trim();
  }

  async #write(name: string, text: string): Promise<void> {
    await replaceFile(this.#disk, this.#folder, name, [Buffer.from(`${text}\n`)]);
  }
}

function isPlain(text: string): boolean {
  return /^[0-9a-fA-F]{64}$/.test(text);
}

function keyOf(hex: string, where: string): MasterKey {
  try {
    return MasterKey.fromHex(hex);
  } catch (cause) {
    const message = `${where} is damaged: a key is 64 hexadecimal digits. Put the right one there.`;
    throw new ScenepressError('master_key', message, { cause });
  }
}
