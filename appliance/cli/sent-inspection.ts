import type { InspectedSource } from '../../lib/index.ts';

type Scene = InspectedSource['scenes'][number];
type Picture = Scene['pictures'][number];
type SentPicture = Omit<Picture, 'jpeg'> & { jpeg: string };
type SentScene = Omit<Scene, 'sheet' | 'pictures'> & { sheet: string; pictures: SentPicture[] };

/** An inspection as JSON: its pictures are in base64. */
export type SentInspection = Omit<InspectedSource, 'scenes'> & { scenes: SentScene[] };

export function sentInspection({ scenes, ...found }: InspectedSource): SentInspection {
  const sentScene = ({ sheet, pictures, ...scene }: Scene): SentScene => ({
    ...scene,
    sheet: sent(sheet),
    pictures: pictures.map(({ jpeg, ...picture }) => ({ ...picture, jpeg: sent(jpeg) })),
  });
  return { ...found, scenes: scenes.map(sentScene) };
}

export function receivedInspection({ scenes, ...found }: SentInspection): InspectedSource {
  const receivedScene = ({ sheet, pictures, ...scene }: SentScene): Scene => ({
    ...scene,
    sheet: received(sheet),
    pictures: pictures.map(({ jpeg, ...picture }) => ({ ...picture, jpeg: received(jpeg) })),
  });
  return { ...found, scenes: scenes.map(receivedScene) };
}

function sent(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

function received(text: string): Uint8Array {
  return Buffer.from(text, 'base64');
}
