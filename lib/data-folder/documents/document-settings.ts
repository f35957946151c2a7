import { DATA_FILES } from '../../files/data-files.ts';
import { DEFAULT_SETTINGS, type Settings, type SettingsStore } from '../../storage/settings-store.ts';
import { Document, type DocumentContent } from './document.ts';
import type { DocumentFormat, DocumentPlace } from './document-file.ts';
import { DocumentFile } from './document-file.ts';
import { Fields, orNull, time } from './fields.ts';
import { recordFormat } from './format.ts';

export const SETTINGS_FORMAT: DocumentFormat<Settings> = recordFormat<Settings>(
  new Fields({ queuePausedAt: ['queuePausedAtMs', orNull(time)] }),
  DEFAULT_SETTINGS,
);

interface SettingsDraft {
  settings: Settings;
}

/** Settings in `settings.json`. */
export class DocumentSettings implements SettingsStore {
  readonly document: Document<Settings, SettingsDraft>;
  #settings = DEFAULT_SETTINGS;

  constructor({ disk, folder, onFullDisk }: DocumentPlace) {
    const file = new DocumentFile({ disk, folder, name: DATA_FILES.settings, format: SETTINGS_FORMAT });
    this.document = new Document({ file, content: this.#content(), onFullDisk });
  }

  async getSettings(): Promise<Settings> {
    return this.#settings;
  }

  changeSettings(change: (settings: Settings) => Settings): Promise<Settings> {
    return this.document.change((draft) => {
      draft.settings = Object.freeze({ ...change(draft.settings) });
      return draft.settings;
    });
  }

  #content(): DocumentContent<Settings, SettingsDraft> {
    return {
      load: (settings) => {
        this.#settings = Object.freeze(settings);
      },
      all: () => this.#settings,
      draft: () => ({ settings: this.#settings }),
      merged: ({ settings }) => (settings === this.#settings ? undefined : settings),
      commit: ({ settings }) => {
        this.#settings = settings;
      },
    };
  }
}
