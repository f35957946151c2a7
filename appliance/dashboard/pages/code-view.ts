import { shownNumber } from '../format.ts';
import { bytesOf, type Html, html, longText, type Value, wholeText } from '../html.ts';
import { texts } from '../language/texts.ts';
import { BASE } from '../route.ts';

/** With its tags: most of the page. */
const MOST_BYTES = 240_000;
/** Of the tags around a line that is referred to, or around hidden characters. */
const TAG_BYTES = 80;
/** Lines before the marked one, if it would be too far from the first. */
const LINES_BEFORE = 100;

/** Characters that are invisible or reorder others. */
const HIDDEN = /[[\p{Bidi_Control}\p{Cc}\u2028\u2029\ufeff]--[\t]]/v;
/** One of them, or the text up to the next. */
const PIECES = /([^[\p{Bidi_Control}\p{Cc}\u2028\u2029\ufeff]--[\t]]+)|./gsv;

/**
 * A code with the numbers of its lines, as Python counts them: as much as fits, from the beginning or around the
 * `marked` line. Only that one and the `linked` ones are elements, because a code may have 200,000 lines.
 */
export function codeCard(
  code: string,
  {
    whole,
    marked,
    linked = [],
  }: {
    /** The path, below {@link BASE}, of the whole code as a file. */
    whole: string;
    marked?: number | undefined;
    linked?: Iterable<number>;
  },
): Html {
  const lines = new Lines(code);
  const view = { marked, linked: new Set(linked) };
  let from = 0;
  let shown = linesFrom(from, lines, view);
  if (marked !== undefined && marked > shown.until && marked <= lines.count) {
    from = Math.max(0, marked - 1 - LINES_BEFORE);
    shown = linesFrom(from, lines, view);
  }
  const { content, numbers, until, isCut, hasHidden } = shown;
  const { job: t, common } = texts();
  return html`<section class="card"><header><h2>${t.code}</h2><button type="button" data-copy="code" data-from="${(isCut || hasHidden) && `${BASE}${whole}`}" hidden>${common.copy}</button></header>${
    isCut &&
    html`<p class="small muted">${t.codeLines(shownNumber(from + 1), shownNumber(until), shownNumber(lines.count))} <a href="${BASE}${whole}">${t.downloadCode}</a></p>`
  }<div class="source"><pre class="lines" aria-hidden="true">${wholeText(numbers)}</pre><pre tabindex="0" id="code">\n${content}</pre></div></section>`;
}

interface Shown {
  content: Value[];
  /** One a line. */
  numbers: string;
  /** The number of the last line that is shown. */
  until: number;
  isCut: boolean;
  hasHidden: boolean;
}

function linesFrom(
  from: number,
  lines: Lines,
  { marked, linked }: { marked: number | undefined; linked: Set<number> },
): Shown {
  const content: Value[] = [];
  const numbers: string[] = [];
  let room = MOST_BYTES;
  let isCut = from > 0;
  let hasHidden = false;
  /** Lines without elements. */
  let plain = '';
  for (let index = from; index < lines.count && room > 0; index += 1) {
    const number = index + 1;
    const line = lines.at(index);
    const isElement = number === marked || linked.has(number);
    numbers.push(String(number));
    room -= String(number).length + 2 + (isElement ? TAG_BYTES : 0);
    const bytes = bytesOf(line);
    if (!isElement && bytes <= room && !(lines.mayHide && HIDDEN.test(line))) {
      room -= bytes;
      plain += `${line}\n`;
      continue;
    }
    const escaped = withEscapes(line, Math.max(0, room));
    room = escaped.room;
    hasHidden ||= escaped.hasHidden;
    content.push(
      wholeText(plain),
      element(number, escaped.shown, { isElement, isMarked: number === marked }),
    );
    plain = '';
  }
  content.push(wholeText(plain));
  const until = from + numbers.length;
  isCut ||= until < lines.count || room < 0;
  return { content, numbers: numbers.join('\n'), until, isCut, hasHidden };
}

function element(
  number: number,
  shown: Value,
  { isElement, isMarked }: { isElement: boolean; isMarked: boolean },
): Html {
  if (isMarked) return html`<mark id="line-${number}">${shown}</mark>\n`;
  return isElement ? html`<span class="code" id="line-${number}">${shown}</span>\n` : html`${shown}\n`;
}

/** Shows hidden characters as `⟨U+202E⟩`. `room`: bytes that are left, less than 0 when the line was cut. */
export function withEscapes(
  line: string,
  mostBytes: number,
): { shown: Value; room: number; hasHidden: boolean } {
  const shown: Value[] = [];
  let room = mostBytes;
  let hasHidden = false;
  for (const [piece, text] of line.matchAll(PIECES)) {
    if (room < 0) break;
    if (text === undefined) {
      const code = piece.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
      shown.push(html`<span class="hidden-character">⟨U+${code}⟩</span>`);
      hasHidden = true;
      room -= TAG_BYTES;
    } else {
      shown.push(longText(text, room));
      room -= bytesOf(text);
    }
  }
  return { shown, room, hasHidden };
}

/** The lines of a code, as Python counts them. */
export class Lines {
  readonly #code: string;
  readonly #starts: number[] = [0];
  /** Whether any of them has hidden characters. */
  readonly mayHide: boolean;

  constructor(code: string) {
    this.#code = code;
    this.mayHide = HIDDEN.test(code);
    for (let at = 0; at < code.length; at += 1) {
      const unit = code.charCodeAt(at);
      const isEnd = unit === 0x0a || (unit === 0x0d && code.charCodeAt(at + 1) !== 0x0a);
      // What follows the last line break is no line.
      if (isEnd && at + 1 < code.length) this.#starts.push(at + 1);
    }
  }

  get count(): number {
    return this.#starts.length;
  }

  at(index: number): string {
    let end = this.#starts[index + 1] ?? this.#code.length;
    if (this.#code[end - 1] === '\n') end -= 1;
    if (this.#code[end - 1] === '\r') end -= 1;
    return this.#code.slice(this.#starts[index], end);
  }
}
