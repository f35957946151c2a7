import type { Texts } from '../en/index.ts';

export const overview: Texts['overview'] = {
  title: 'Übersicht',
  leadOfAdministrator: 'Die Renderings aller Konten.',
  lead: 'Ihre Renderings.',
  queueIsPaused: 'Die Warteschlange ist angehalten: Aufträge werden angenommen, aber nicht begonnen.',
  rendersToday: 'Renderings heute',
  outcomes: (completed, failed) => `${completed} fertig, ${failed} fehlgeschlagen`,
  canceled: (count) => `, ${count} abgebrochen`,
  running: 'Laufend',
  notReady: ', nicht bereit',
  ofYours: 'eigene',
  queued: 'Wartend',
  waiting: 'warten auf einen Worker',
  waitingPaused: 'warten: Die Warteschlange ist angehalten',
  free: 'Kostenlos',
  freeAndPaid: (free, paid) => `${free} kostenlos, ${paid} bezahlt`,
  runningNow: 'Läuft gerade',
  latest: 'Neueste Renderings',
  allJobs: 'Alle Aufträge',
  nothingYet: 'Noch nichts gerendert',
  nothingYetText:
    'Erstellen Sie einen API-Schlüssel. Seine Seite enthält einen Befehl, der eine erste Szene rendert.',
  latestFailure: 'zuletzt: {job}',
  failuresToday: 'Fehler heute',
  allFailedJobs: 'Alle fehlgeschlagenen Aufträge',
  unknownFailure: 'Unbekannt',
};
