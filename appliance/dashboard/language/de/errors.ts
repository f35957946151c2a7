import type { Texts } from '../en/index.ts';

export const errors: Texts['errors'] = {
  anotherSite:
    'Das Formular ist abgelaufen oder wurde von einer anderen Website gesendet. Gehen Sie zurück, laden Sie die Seite neu und versuchen Sie es erneut.',
  backToThePage: 'Zurück zur Seite',
  backupIsDownloaded:
    'Eine andere Sicherung wird gerade heruntergeladen. Warten Sie, bis sie vollständig ist.',
  clientHasGone: 'Der Client hat die Verbindung beendet.',
  formIsIncomplete: 'Das Formular ist unvollständig angekommen. Senden Sie es erneut.',
  notAForm: 'Dateien werden als multipart/form-data gesendet.',
  request: (requestId) => `Anfrage ${requestId}`,
  somethingFailed: 'Das hat nicht funktioniert',
  textIsForgotten: 'Diesen Text gibt es nicht mehr: Sein Auftrag wurde vergessen.',
  title: 'Fehler',
  toTheOverview: 'Zur Übersicht',
  tooManyAttempts: (minutes) => `Zu viele Versuche. Versuchen Sie es in ${minutes} min erneut.`,
  tooManyPages: 'Es sind zu viele Seiten des Dashboards geöffnet.',
  tooManyPagesAtOnce:
    'Zu viele Seiten Ihres Kontos werden gleichzeitig geladen. Versuchen Sie es in einer Sekunde erneut.',
  unknownPage: 'Diese Seite gibt es nicht.',
  statuses: {
    400: 'Ungültige Anfrage',
    402: 'Zu wenig Guthaben',
    403: 'Nicht erlaubt',
    404: 'Nicht gefunden',
    408: 'Zeitüberschreitung',
    409: 'Konflikt',
    413: 'Zu groß',
    415: 'Nicht unterstütztes Format',
    429: 'Zu viele Anfragen',
    500: 'Interner Fehler',
    503: 'Nicht verfügbar',
    507: 'Zu wenig Speicherplatz',
  },
};
