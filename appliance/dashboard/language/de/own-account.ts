import type { Texts } from '../en/index.ts';

export const ownAccount: Texts['ownAccount'] = {
  title: 'Konto',
  storedHint: 'Videos, Quelltexte und Metadaten; das Vergessen von Aufträgen schafft Platz',
  changePassword: 'Passwort ändern',
  current: 'Bisheriges Passwort',
  chosen: 'Neues Passwort',
  passwordHint: 'mindestens 10 Zeichen',
  passwordChanged: 'Das Passwort wurde geändert. Andere Browser sind abgemeldet.',
  sessions: 'Sitzungen',
  sessionsText:
    'Eine Sitzung endet sieben Tage nach ihrer letzten Benutzung. „Überall abmelden“ beendet die Sitzungen aller Browser, auch dieses.',
  browser: 'Browser',
  browserOn: (browser, system) => `${browser} unter ${system}`,
  unknownBrowser: 'Unbekannter Browser',
  thisBrowser: 'dieser Browser',
  network: 'Adresse',
  signedIn: 'Angemeldet',
  lastUsed: 'Zuletzt benutzt',
  sessionEnded: 'Die Sitzung ist beendet.',
  othersEnded: 'Alle anderen Browser sind abgemeldet.',
  signOutOthers: 'Alle anderen abmelden',
  signOutEverywhere: 'Überall abmelden',
  languageText: 'Die Sprache des Dashboards in diesem Browser.',
};
