import type { Texts } from '../en/index.ts';
import { counted } from './format.ts';

export const counts: Texts['counts'] = {
  accounts: (count) => counted(count, 'Konto', 'Konten'),
  attempts: (count) => counted(count, 'Versuch', 'Versuche'),
  credits: (count) => counted(count, 'Credit', 'Credits'),
  days: (count) => counted(count, 'Tag', 'Tage'),
  drafts: (count) => counted(count, 'Entwurf', 'Entwürfe'),
  files: (count) => counted(count, 'Datei', 'Dateien'),
  frames: (count) => counted(count, 'Bild', 'Bilder'),
  jobs: (count) => counted(count, 'Auftrag', 'Aufträge'),
  lines: (count) => counted(count, 'Zeile', 'Zeilen'),
  pictures: (count) => counted(count, 'Bild', 'Bilder'),
  plays: (count) => counted(count, 'Animation', 'Animationen'),
  problems: (count) => counted(count, 'Problem', 'Probleme'),
  renders: (count) => counted(count, 'Rendering', 'Renderings'),
  videos: (count) => counted(count, 'Video', 'Videos'),
  scenes: (count) => counted(count, 'Szene', 'Szenen'),
  versions: (count) => counted(count, 'Fassung', 'Fassungen'),
  workers: (count) => counted(count, 'Worker', 'Worker'),
};
