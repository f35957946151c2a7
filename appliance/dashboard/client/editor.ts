import { defaultKeymap, history, historyKeymap, indentWithTab, isolateHistory } from '@codemirror/commands';
import { pythonLanguage } from '@codemirror/lang-python';
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
} from '@codemirror/language';
import { type Range, StateEffect, StateField, type Text } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  WidgetType,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { type Fault, type Fix, fixPlaces, labelOf, setFaults, writeFix } from './fixes.ts';
import { texts } from './texts.ts';

const setPlayedLine = StateEffect.define<number | undefined>();

class FaultMessage extends WidgetType {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super();
    this.fault = fault;
  }

  override eq({ fault }: FaultMessage): boolean {
    return JSON.stringify(fault) === JSON.stringify(this.fault);
  }

  toDOM(view: EditorView): HTMLElement {
    const { message, hint, fix, severity } = this.fault;
    const place = document.createElement('div');
    place.className = severity === 'warning' ? 'cm-fault cm-warning' : 'cm-fault';
    place.textContent = message;
    if (hint !== undefined || fix) {
      const advice = document.createElement('div');
      advice.className = 'cm-hint';
      advice.textContent = hint?.replaceAll('`', '') ?? '';
      if (fix) advice.append(' ', this.#button(fix, view));
      place.append(advice);
    }
    return place;
  }

  #button(fix: Fix, view: EditorView): HTMLElement {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = labelOf(fix, this.fault, view.state, texts());
    button.addEventListener('click', () => {
      // Where the text has changed, the next check says what to write.
      button.hidden = !writeFix(view, fix);
      view.focus();
    });
    return button;
  }
}

/** They move with the text, and each is removed when its line is edited. */
const faults = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, transaction) {
    let updated = marks;
    transaction.changes.iterChangedRanges((from, to) => {
      const { doc } = transaction.startState;
      const first = doc.lineAt(from).from;
      const last = doc.lineAt(to).to;
      updated = updated.update({ filter: (at) => at < first || at > last });
    });
    updated = updated.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (effect.is(setFaults)) updated = marksOf(effect.value, transaction.state.doc);
    }
    return updated;
  },
  provide: (field) => EditorView.decorations.from(field),
});

function marksOf(faults: Fault[], doc: Text): DecorationSet {
  const seen = faults.filter(({ line }) => line <= doc.lines);
  const lines = new Set(seen.map(({ line }) => line));
  const marks: Range<Decoration>[] = [
    ...Array.from(lines, (line) =>
      Decoration.line({ class: 'cm-faulty', attributes: { 'data-fault': '' } }).range(doc.line(line).from),
    ),
    ...seen.map((fault) =>
      Decoration.widget({ widget: new FaultMessage(fault), block: true, side: 1 }).range(
        doc.line(fault.line).to,
      ),
    ),
  ];
  return Decoration.set(marks, true);
}

const playedLine = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, transaction) {
    let updated = marks.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(setPlayedLine)) continue;
      const { doc } = transaction.state;
      const number = effect.value;
      updated =
        number === undefined || number > doc.lines
          ? Decoration.none
          : Decoration.set(Decoration.line({ class: 'cm-played' }).range(doc.line(number).from));
    }
    return updated;
  },
  provide: (field) => EditorView.decorations.from(field),
});

const highlighting = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'var(--code-keyword)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-number)' },
  { tag: tags.comment, color: 'var(--code-comment)', fontStyle: 'italic' },
  {
    tag: [tags.definition(tags.variableName), tags.definition(tags.className), tags.className],
    color: 'var(--code-name)',
  },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], color: 'var(--code-call)' },
  { tag: [tags.self, tags.meta], color: 'var(--code-self)' },
]);

const theme = EditorView.theme({
  '&': { height: '100%', fontSize: '0.8125rem', backgroundColor: 'transparent', color: 'var(--text)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6', overflow: 'auto' },
  '.cm-content': { padding: '0.75rem 0', caretColor: 'var(--text)' },
  '.cm-line': { padding: '0 1rem 0 0.5rem' },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--muted)', border: 'none' },
  '.cm-lineNumbers .cm-gutterElement': { padding: '0 0.5rem 0 1rem', minWidth: '3.25rem' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLine, &.cm-focused .cm-activeLineGutter': { backgroundColor: 'var(--code-line)' },
  '.cm-activeLineGutter': { color: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--code-selection)',
  },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--code-selection)', outline: 'none' },
  '.cm-played': { backgroundColor: 'var(--accent-soft)' },
  '.cm-faulty, &.cm-focused .cm-faulty': { backgroundColor: 'var(--bad-soft)' },
  '.cm-hint': { color: 'var(--text)' },
  '.cm-hint button': {
    font: 'inherit',
    padding: '0 0.5rem',
    color: 'var(--accent)',
    backgroundColor: 'var(--surface)',
    border: '1px solid var(--accent)',
    borderRadius: 'var(--radius)',
    cursor: 'pointer',
  },
  '.cm-fault': {
    backgroundColor: 'var(--bad-soft)',
    color: 'var(--bad)',
    padding: '0.125rem 1rem 0.375rem 0.5rem',
    fontFamily: 'var(--sans)',
    whiteSpace: 'pre-wrap',
    overflowWrap: 'anywhere',
  },
  '.cm-warning': { color: 'var(--warn)' },
});

/** The editor of the playground. */
export class Editor {
  readonly view: EditorView;

  /** `onRender`: Ctrl+Enter or Cmd+Enter. */
  constructor(
    place: HTMLElement,
    {
      text,
      onChange,
      onRender,
      onDrop,
    }: {
      text: string;
      onChange: () => void;
      onRender: () => void;
      /** Files, at whose place the cursor is. */
      onDrop: (transfer: DataTransfer) => void;
    },
  ) {
    // A document's policy would refuse CodeMirror's <style> elements. In a shadow root it uses adopted style sheets.
    const root = place.attachShadow({ mode: 'open' });
    this.view = new EditorView({
      root,
      parent: root,
      doc: text,
      extensions: [
        lineNumbers(),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        history(),
        drawSelection(),
        EditorView.lineWrapping,
        indentOnInput(),
        bracketMatching(),
        indentUnit.of('    '),
        pythonLanguage,
        syntaxHighlighting(highlighting),
        theme,
        fixPlaces,
        faults,
        playedLine,
        // Esc, then Tab leaves the editor: CodeMirror's own behaviour.
        keymap.of([
          {
            key: 'Mod-Enter',
            run: () => {
              onRender();
              return true;
            },
          },
          ...defaultKeymap,
          ...historyKeymap,
          indentWithTab,
        ]),
        EditorView.contentAttributes.of({
          tabindex: '0',
          'aria-label': texts().code,
          'aria-description': texts().editorHint,
        }),
        // CodeMirror would write their texts.
        EditorView.domEventHandlers({
          drop: (event, view) => {
            if (!event.dataTransfer?.types.includes('Files')) return false;
            event.preventDefault();
            const at = view.posAtCoords({ x: event.clientX, y: event.clientY });
            if (at !== null) view.dispatch({ selection: { anchor: at } });
            onDrop(event.dataTransfer);
            return true;
          },
        }),
        EditorView.updateListener.of(({ docChanged }) => {
          if (docChanged) onChange();
        }),
      ],
    });
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  /** Replaces the text; can be undone by itself. */
  set text(text: string) {
    const { length } = this.view.state.doc;
    this.view.dispatch({
      changes: { from: 0, to: length, insert: text },
      selection: { anchor: 0 },
      scrollIntoView: true,
      annotations: isolateHistory.of('full'),
    });
  }

  /** Writes the name of a file at the cursor, as a text unless it is in one, and focuses the editor. */
  insertName(name: string): void {
    const { state } = this.view;
    const { from, to } = state.selection.main;
    const isWithin = /["']/.test(state.sliceDoc(from - 1, from)) && /["']/.test(state.sliceDoc(to, to + 1));
    this.view.dispatch(state.replaceSelection(isWithin ? name : JSON.stringify(name)), {
      scrollIntoView: true,
    });
    this.view.focus();
  }

  showFault(fault: Fault | undefined): void {
    this.showFaults(fault ? [fault] : []);
  }

  /** `isSought`: scrolls to the first. */
  showFaults(faults: Fault[], { isSought = true }: { isSought?: boolean } = {}): void {
    const effects: StateEffect<unknown>[] = [setFaults.of(faults)];
    const [first] = faults;
    if (first && isSought && first.line <= this.view.state.doc.lines) {
      effects.push(EditorView.scrollIntoView(this.view.state.doc.line(first.line).from, { y: 'center' }));
    }
    this.view.dispatch({ effects });
  }

  /** Marks the line of the play that the video shows. */
  showPlayedLine(line: number | undefined): void {
    this.view.dispatch({ effects: setPlayedLine.of(line) });
  }

  /** Moves the cursor to a line, and focuses the editor. */
  goTo(number: number): void {
    const { doc } = this.view.state;
    if (number > doc.lines) return;
    const { from } = doc.line(number);
    this.view.dispatch({
      selection: { anchor: from },
      effects: EditorView.scrollIntoView(from, { y: 'center' }),
    });
    this.view.focus();
  }
}
