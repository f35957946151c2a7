import type { Texts } from '../en/index.ts';
import { layout } from './layout.ts';

/** The dashboard's texts in German. */
export const DE: Texts = { layout };
