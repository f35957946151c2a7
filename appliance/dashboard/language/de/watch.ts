import type { Texts } from '../en/index.ts';

export const watch: Texts['watch'] = {
  untitled: 'Video',
  chapters: 'Kapitel',
  playlist: 'Wiedergabeliste',
  previous: 'Zurück',
  next: 'Weiter',
  speed: 'Tempo',
  download: 'Herunterladen',
  keys: 'Tasten',
  keyList: [
    ['Leertaste, K', 'abspielen oder anhalten'],
    ['J, L', '10 Sekunden zurück oder vor'],
    ['← →', '5 Sekunden zurück oder vor'],
    [', .', 'ein Bild zurück oder vor'],
    ['↑ ↓', 'Lautstärke'],
    ['F', 'ganzer Bildschirm'],
    ['M', 'Ton an oder aus'],
  ],
  captions: 'Untertitel',
  place: (place, count) => `Video ${place} von ${count}`,
  removed:
    'Dieses Video wurde vom Server entfernt. Bitten Sie die Person, die es geteilt hat, es neu zu rendern.',
  noLinkTitle: 'Hier ist kein Video',
  noLink: 'Der Link ist unvollständig, oder was er zeigte, ist nicht mehr geteilt.',
  overTitle: 'Dieser Link gilt nicht mehr',
  over: 'Er ist abgelaufen oder wurde von der Person widerrufen, die ihn geteilt hat.',
  whatToDo: 'Bitten Sie die Person, die Ihnen den Link geschickt hat, um einen neuen.',
  faultTitle: 'Das hat nicht geklappt',
  fault: 'Der Server kann das Video gerade nicht zeigen. Versuchen Sie es in einer Minute noch einmal.',
  watchOn: 'Die Seite des Videos öffnen',
};
