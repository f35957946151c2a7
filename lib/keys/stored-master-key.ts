import { ScenepressError } from '../base/errors.ts';
import { known } from '../base/known-options.ts';
import type { Random } from '../base/random.ts';
import { MasterKey } from './master-key.ts';
import type { MasterKeyOptions } from './master-key-files.ts';
import { MASTER_KEY_OPTIONS } from './master-key-files.ts';
import { MasterKeys } from './master-keys.ts';

const CHECK_TEXT = 'scenepress';

/** What a shared database keeps about the master key, which itself is given to each process. */
export interface MasterKeyRecords {
  /**
   * `check`: a small text sealed with the key. `next`: during a replacement, the new key sealed with the old one, and in
   * the second line the old one sealed with the new one.
   */
  read(name: 'check' | 'next'): Promise<string | undefined>;
  /** Adds a record unless there is one; resolves with the stored one. */
  add(name: 'check' | 'next', content: string): Promise<string>;
  /** Ends a replacement: replaces `check` and removes `next`. */
  finish(check: string): Promise<void>;
}

/**
 * The master key of a service of several machines: the same for all, and checked against the shared database.
 *
 * ```ts
 * const storage = postgres(url);
 * await storage.start();
 * const masterKeys = await storage.masterKey.load({ given: process.env['MASTER_KEY'] });
 * ```
 */
export class StoredMasterKey {
  readonly #records: MasterKeyRecords;
  readonly #random: Random;
  #loaded: Promise<MasterKeys> | undefined;

  constructor(records: MasterKeyRecords, { random }: { random: Random }) {
    this.#records = records;
    this.#random = random;
  }

  /**
   * The master keys; the same object until {@link close}. During a replacement, either key may be given: all machines seal
   * with the new one. Error: `master_key`, with instructions.
   */
  async load(options: MasterKeyOptions = {}): Promise<MasterKeys> {
    const { given, required = true, records = true } = known('load', options, MASTER_KEY_OPTIONS);
    this.#loaded ??= this.#load(given, { required, records }).catch((error: unknown) => {
      this.#loaded = undefined;
      throw error;
    });
    return this.#loaded;
  }

  /** Makes the next {@link load} read the records again. */
  close(): void {
    this.#loaded = undefined;
  }

  /** Whether a replacement is in progress or was interrupted. */
  async isRotating(): Promise<boolean> {
    return (await this.#records.read('next')) !== undefined;
  }

  /** Starts a replacement: both keys are valid, and secrets are sealed with the new one. */
  async begin(given: string | undefined): Promise<void> {
    const keys = await this.load();
    if (given === undefined) {
      const message = 'The master key is not kept in the database: give the new key, too.';
      throw new ScenepressError('invalid_request', message);
    }
    const next = keyOf(given, 'The new master key');
    const { current } = keys;
    if (next.id !== current.id) {
      const sealed = [
        current.seal(next.toHex(), this.#random),
        next.seal(current.toHex(), this.#random),
      ].join('\n');
      if ((await this.#records.add('next', sealed)) !== sealed) {
        const message = 'Another replacement of the master key was interrupted. Complete that one first.';
        throw new ScenepressError('conflict', message);
      }
    }
    keys.change(next);
  }

  /** Ends a replacement after all secrets are sealed with the current key. */
  async finish(): Promise<null> {
    const { current } = await this.load();
    await this.#records.finish(current.seal(CHECK_TEXT, this.#random));
    return null;
  }

  async #load(
    given: string | undefined,
    { required, records }: { required: boolean; records: boolean },
  ): Promise<MasterKeys> {
    if (given === undefined && required) throw new ScenepressError('master_key', MISSING);
    if (given === undefined) return new MasterKeys(null);
    const key = keyOf(given, 'The master key that was given');
    const { current, former } = (await this.#keysOfReplacement(key)) ?? { current: key };
    const sealed = current.seal(CHECK_TEXT, this.#random);
    const check = records
      ? await this.#records.add('check', sealed)
      : ((await this.#records.read('check')) ?? sealed);
    if (!current.decrypts(check) && !former?.decrypts(check)) throw new ScenepressError('master_key', WRONG);
    return new MasterKeys(current, { former, random: this.#random });
  }

  /** The keys of an interrupted replacement, if `key` is one of them. */
  async #keysOfReplacement(key: MasterKey): Promise<{ current: MasterKey; former?: MasterKey } | undefined> {
    const [next = '', former = ''] = (await this.#records.read('next'))?.split('\n') ?? [];
    if (key.decrypts(next)) return { current: MasterKey.fromHex(key.decrypt(next)), former: key };
    if (key.decrypts(former)) return { current: key, former: MasterKey.fromHex(key.decrypt(former)) };
    return undefined;
  }
}

const MISSING =
  'With a database, every machine that serves the API or sends webhooks must be given the same master key: set ' +
  'SCENEPRESS_MASTER_KEY or SCENEPRESS_MASTER_KEY_FILE. To make one: openssl rand -hex 32';
const WRONG =
  'The master key that was given is not the one that the secrets in the database are encrypted with. Give the key that ' +
  'the other machines have; after a replacement, the new one.';

function keyOf(hex: string, where: string): MasterKey {
  try {
    return MasterKey.fromHex(hex);
  } catch (cause) {
    const message = `${where} is damaged: a key is 64 hexadecimal digits.`;
    throw new ScenepressError('master_key', message, { cause });
  }
}
