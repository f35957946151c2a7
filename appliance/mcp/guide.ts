import { GUIDE_TEXTS } from './generated/guide-texts.ts';

/** The topics of the guide: `scene`, then those of the references by name. */
export const GUIDE_TOPICS: readonly string[] = Object.keys(GUIDE_TEXTS);

/** A reference text, as Markdown. */
export function guideOf(topic: string): string {
  const text = GUIDE_TEXTS[topic];
  if (text === undefined) throw new Error(`There is no topic ${topic}.`);
  return text;
}
