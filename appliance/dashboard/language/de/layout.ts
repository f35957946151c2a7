import type { Texts } from '../en/index.ts';

export const layout: Texts['layout'] = {
  sections: {
    overview: 'Bibliothek',
    playground: 'Editor',
    jobs: 'Aufträge',
    shares: 'Geteilt',
    files: 'Dateien',
    keys: 'Schlüssel',
    webhooks: 'Webhooks',
    credits: 'Guthaben',
    accounts: 'Konten',
    service: 'Dienst',
    acts: 'Protokoll',
  },
  skip: 'Zum Inhalt springen',
  navigation: 'Hauptmenü',
  utc: 'Zeiten: UTC',
  account: 'Konto',
  signOut: 'Abmelden',
  manual: 'Handbuch',
  openapi: 'OpenAPI-Dokument',
  agents: 'Texte für Agenten',
  languages: { en: 'English', de: 'Deutsch' },
  language: 'Sprache',
  script: {
    copied: 'Kopiert',
    disconnected: 'Keine Verbindung; neuer Versuch läuft.',
    frame: 'Das zuletzt gezeichnete Bild',
    times: 'Zeiten: {zone}',
    yourTime: '(Ihre Zeit)',
  },
};
