import type { Account } from '../accounts/account-store.ts';
import { ScenepressError } from '../errors.ts';
import type { KeyRecord } from '../keys/key-store.ts';
import type { Settings } from '../settings/settings-store.ts';
import { ACCOUNTS_FILE, DocumentAccountStore } from './document-account-store.ts';
import { DocumentKeyStore, KEYS_FILE } from './document-key-store.ts';
import type { DocumentPlace } from './document-place.ts';
import { DocumentSettings, SETTINGS_FILE } from './document-settings.ts';

/** In the order in which they are made: with the last one, a folder has them all. */
export const DOCUMENT_FILES: readonly string[] = [ACCOUNTS_FILE, KEYS_FILE, SETTINGS_FILE];

/** What the documents of a folder begin with. */
export interface FirstContents {
  accounts: Account[];
  keys: KeyRecord[];
  settings: Settings;
}

/**
 * The documents of a data folder: what people may read and change by hand, while nothing runs on it. Whole in memory, so
 * nothing belongs here that grows with the jobs or changes with each request.
 */
export class Documents {
  readonly accounts: DocumentAccountStore;
  readonly keys: DocumentKeyStore;
  readonly settings: DocumentSettings;

  constructor(place: DocumentPlace) {
    this.accounts = new DocumentAccountStore(place);
    this.keys = new DocumentKeyStore(place);
    this.settings = new DocumentSettings(place);
  }

  /** Reads them, or makes them with `first` where none are there. Errors: `storage_damaged`. */
  async start(first: Partial<FirstContents> = {}): Promise<void> {
    const [accounts, keys, settings] = this.#all;
    const thereAre = { accounts: await accounts.start(), keys: await keys.start() };
    if (await settings.start()) {
      if (!thereAre.accounts) throw missing(accounts.path);
      if (!thereAre.keys) throw missing(keys.path);
      return;
    }
    if (!thereAre.accounts) await accounts.create(first.accounts);
    if (!thereAre.keys) await keys.create(first.keys);
    await settings.create(first.settings);
  }

  async stop(): Promise<void> {
    for (const document of this.#all) await document.stop();
  }

  /** Writes them into another folder, as they are at the call. */
  async copyTo(folder: string): Promise<void> {
    await Promise.all(this.#all.map((document) => document.copyTo(folder)));
  }

  get #all() {
    return [this.accounts.document, this.keys.document, this.settings.document] as const;
  }
}

function missing(path: string): ScenepressError {
  return new ScenepressError(
    'storage_damaged',
    `${path} is missing. Nothing was changed. Put it back, from a backup if need be; if you can't, ` +
      '`scenepress recover` makes an empty one.',
  );
}
