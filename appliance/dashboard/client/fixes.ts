import {
  type EditorState,
  StateEffect,
  type StateEffectType,
  StateField,
  type Text,
} from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import { filled, type PlaygroundTexts } from './filled.ts';

/** A message below the line of code that it is about. */
export interface Fault {
  line: number;
  message: string;
  /** Default: an error. */
  severity?: 'error' | 'warning' | undefined;
  /** What to do about it. */
  hint?: string | undefined;
  /** What can be written instead of a part of the code. */
  fix?: Fix | undefined;
}

/** A replacement of a part of a line; both ends count UTF-16 units from its beginning. */
export interface Fix {
  /** That of the fault, or another: of imports, or of the class. */
  line: number;
  from: number;
  to: number;
  text: string;
}

interface Place {
  from: number;
  to: number;
}

/** Shows faults instead of the earlier ones. */
export const setFaults: StateEffectType<Fault[]> = StateEffect.define<Fault[]>();

/** Where the replacements of faults are now. They move with the text; one is dropped when its line is edited. */
export const fixPlaces: StateField<ReadonlyMap<string, Place>> = StateField.define<
  ReadonlyMap<string, Place>
>({
  create: () => new Map(),
  update(places, { changes, effects, startState, state }) {
    const faults = effects.findLast((effect) => effect.is(setFaults))?.value;
    if (faults) return placesOf(faults, state.doc);
    if (changes.empty) return places;
    const kept = [...places].filter(([, { from }]) => {
      const line = startState.doc.lineAt(from);
      return !changes.touchesRange(line.from, line.to);
    });
    return new Map(
      kept.map(([key, { from, to }]) => [key, { from: changes.mapPos(from), to: changes.mapPos(to) }]),
    );
  },
});

function placesOf(faults: readonly Fault[], doc: Text): ReadonlyMap<string, Place> {
  const fixes = faults.flatMap(({ fix }) => (fix && fix.line <= doc.lines ? [fix] : []));
  return new Map(
    fixes.map((fix) => {
      const { from, length } = doc.line(fix.line);
      return [keyOf(fix), { from: from + Math.min(fix.from, length), to: from + Math.min(fix.to, length) }];
    }),
  );
}

/** Writes a replacement where it is now. False if the text there has changed. */
export function writeFix(view: Pick<EditorView, 'state' | 'dispatch'>, fix: Fix): boolean {
  const place = view.state.field(fixPlaces).get(keyOf(fix));
  if (place) view.dispatch({ changes: { ...place, insert: fix.text } });
  return place !== undefined;
}

/** What a button says that writes a replacement. */
export function labelOf(fix: Fix, fault: Fault, state: EditorState, texts: PlaygroundTexts): string {
  const place = state.field(fixPlaces).get(keyOf(fix));
  const line = place ? state.doc.lineAt(place.from).number : fix.line;
  const text = fix.text.trim();
  if (text === '') return filled(texts.correctLine, { line });
  return filled(fix.line === fault.line ? texts.write : texts.writeInLine, { text, line });
}

/** Not the object: a message that stays on the page has that of an earlier check. */
function keyOf(fix: Fix): string {
  return JSON.stringify([fix.line, fix.from, fix.to, fix.text]);
}
