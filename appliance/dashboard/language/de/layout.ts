import type { Texts } from '../en/index.ts';

export const layout: Texts['layout'] = {
  sections: {
    overview: 'Übersicht',
    playground: 'Editor',
    jobs: 'Aufträge',
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
  copy: 'Kopieren',
};
