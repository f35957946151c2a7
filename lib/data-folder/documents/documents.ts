import type { Account } from '../../accounts/account-store.ts';
import { ScenepressError } from '../../base/errors.ts';
import type { KeyRecord } from '../../keys/key-store.ts';
import type { Settings } from '../../storage/settings-store.ts';
import { DocumentAccountStore } from './document-account-store.ts';
import type { DocumentPlace } from './document-file.ts';
import { DocumentKeyStore } from './document-key-store.ts';
import { DocumentSettings } from './document-settings.ts';

/** The records of all documents. */
export interface DocumentContents {
  accounts: Account[];
  keys: KeyRecord[];
  settings: Settings;
}

/**
 * The documents of a data folder, which can be edited manually while no service runs. Held in memory, so data that
 * grows with jobs or changes with each request does not belong here.
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

  /** Reads the documents, or creates them with `first` when none exist. Error: `storage_damaged`. */
  async start(first: Partial<DocumentContents> = {}): Promise<void> {
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

  /** Adds records to empty documents. */
  async fill({ accounts, keys, settings }: DocumentContents): Promise<void> {
    await this.accounts.document.change((draft) => {
      for (const account of accounts) draft.put(account);
    });
    await this.keys.document.change((draft) => {
      for (const key of keys) draft.put(key);
    });
    await this.settings.changeSettings(() => settings);
  }

  /** Everything. */
  async contents(): Promise<DocumentContents> {
    const settings = await this.settings.getSettings();
    return { accounts: this.accounts.all(), keys: this.keys.all(), settings };
  }

  async stop(): Promise<void> {
    for (const document of this.#all) await document.stop();
  }

  /** Writes the current documents to another folder. */
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
    `${path} is missing. Nothing was changed. Put the file back, or take it from a backup; if you can't, ` +
      '`scenepress recover` makes an empty one.',
  );
}
