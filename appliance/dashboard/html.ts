import assert from 'node:assert/strict';

/** Markup. Made by {@link html} only, so that text never becomes markup unescaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Values of a template: in text, also markup; in quoted attributes, text; in a tag, a boolean attribute. */
export type Value = Html | string | number | false | null | undefined | Value[];

/** Where a value stands in a template: `name` is the attribute, `isFirst` whether the value begins it. */
type Place = { in: 'text' } | { in: 'tag' } | { in: 'attribute'; name: string; isFirst: boolean };

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const URL_ATTRIBUTES = new Set(['href', 'src', 'action', 'formaction', 'poster']);
/** Paths, queries, fragments and web addresses; never `javascript:` or `//host`. */
const SAFE_URL = /^(?:\/(?![/\\])|https?:\/\/|\?|#)/;
const BOOLEAN_ATTRIBUTE = /^[a-z]*$/;
/** Attributes that people read. Those that programs read are never cut. */
const READ_ATTRIBUTES = new Set(['title', 'aria-label', 'alt', 'placeholder']);

/** Of a text in a template: names, addresses and messages may have 200 KB each, and a list has a hundred of them. */
const MOST_BYTES = 1000;
const MOST_BYTES_OF_LONG = 20_000;
/** No character takes more. */
const MOST_BYTES_EACH = 6;

/** By template: a template's strings are the same object at each call. */
const PLACES = new WeakMap<TemplateStringsArray, Place[]>();

/**
 * A template of HTML: values are escaped, wherever they stand; null, undefined and false are empty. Text that people read
 * is cut after {@link MOST_BYTES}, which bounds the size of the page; {@link longText} and {@link wholeText} show more.
 * A value in a URL attribute must be a path or a web address, or it is left out. Asserts that no value stands where
 * escaping doesn't suffice: unquoted, in a comment, a script, a style or an event handler.
 */
export function html(strings: TemplateStringsArray, ...values: Value[]): Html {
  let places = PLACES.get(strings);
  if (!places) {
    places = placesIn(strings);
    PLACES.set(strings, places);
  }
  let text = strings[0] as string;
  for (const [index, value] of values.entries()) {
    text += written(value, places[index] as Place) + strings[index + 1];
  }
  return new Html(text);
}

/** Escapes text for HTML. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] as string);
}

/** A text, cut after so many bytes of HTML. */
export function longText(text: string, mostBytes: number = MOST_BYTES_OF_LONG): Html {
  return new Html(escapeHtml(cut(text, mostBytes)));
}

/** A text that must not be cut, such as what is copied or edited. Its length is the caller's concern. */
export function wholeText(text: string): Html {
  return new Html(escapeHtml(text));
}

/** Data for the scripts of a page. */
export function dataBlock(id: string, data: object): Html {
  // The only character that could end the element.
  const json = JSON.stringify(data).replaceAll('<', '\\u003c');
  return new Html(`<script type="application/json" id="${escapeHtml(id)}">${json}</script>`);
}

/** Whether a text is whole as {@link longText}. */
export function isShort(text: string, mostBytes: number = MOST_BYTES_OF_LONG): boolean {
  return fitting(text, mostBytes) === text.length;
}

/** The size of a text in HTML. */
export function bytesOf(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; at += 1) bytes += bytesOfUnit(text.charCodeAt(at));
  return bytes;
}

function cut(text: string, mostBytes: number): string {
  const end = fitting(text, mostBytes);
  return end === text.length ? text : `${text.slice(0, end)}…`;
}

/** How much of a text takes at most so many bytes. */
function fitting(text: string, mostBytes: number): number {
  if (text.length * MOST_BYTES_EACH <= mostBytes) return text.length;
  let bytes = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    bytes += bytesOfUnit(unit);
    // Not between the halves of a pair.
    if (bytes > mostBytes) return unit >= 0xdc00 && unit < 0xe000 ? at - 1 : at;
  }
  return text.length;
}

function bytesOfUnit(unit: number): number {
  switch (unit) {
    case 0x22:
      return 6;
    case 0x26:
    case 0x27:
      return 5;
    case 0x3c:
    case 0x3e:
      return 4;
    default:
      if (unit < 0x80) return 1;
      // Each half of a pair has two of its four bytes.
      return unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 2 : 3;
  }
}

function written(value: Value, place: Place): string {
  if (value === null || value === undefined || value === false) return '';
  if (place.in === 'text') {
    if (value instanceof Html) return value.text;
    if (Array.isArray(value)) return value.map((item) => written(item, place)).join('');
    return escapeHtml(cut(String(value), MOST_BYTES));
  }
  assert(!(value instanceof Html) && !Array.isArray(value), 'markup stands in text');
  const text = String(value);
  if (place.in === 'tag') {
    assert(BOOLEAN_ATTRIBUTE.test(text), 'a value in a tag is the name of a boolean attribute');
    return text;
  }
  if (URL_ATTRIBUTES.has(place.name) && place.isFirst && !SAFE_URL.test(text)) return '';
  return escapeHtml(READ_ATTRIBUTES.has(place.name) ? cut(text, MOST_BYTES) : text);
}

const OPEN_ATTRIBUTE = /\s([a-z][a-z-]*)="([^"]*)$/;

/** Reads the strings up to each value, as far as our own templates need: attributes are in double quotes. */
function placesIn(strings: readonly string[]): Place[] {
  let before = '';
  return strings.slice(0, -1).map((string) => {
    before += string;
    const place = placeAfter(before);
    // Stands for the value, so that the next place isn't the first of its attribute.
    before += 'x';
    return place;
  });
}

function placeAfter(before: string): Place {
  assert(
    !/<(?:script|style)\b[^>]*>(?!.*<\/(?:script|style)>)/s.test(before),
    'no value in scripts and styles',
  );
  assert(before.lastIndexOf('<!--') <= before.lastIndexOf('-->'), 'no value in comments');
  const tag = tagAtEnd(before);
  if (tag === undefined) return { in: 'text' };
  const [, name = '', value = ''] = OPEN_ATTRIBUTE.exec(tag) ?? [];
  if (name === '' || isClosed(tag)) {
    assert(/\s$/.test(tag), 'a value in a tag follows a space: attributes are in double quotes');
    return { in: 'tag' };
  }
  assert(!name.startsWith('on') && name !== 'style' && name !== 'srcdoc', `no value in ${name}`);
  return { in: 'attribute', name, isFirst: value === '' };
}

/** The tag that is open at the end. */
function tagAtEnd(text: string): string | undefined {
  let start: number | undefined;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (start === undefined) {
      if (character === '<') start = at;
    } else if (character === '"') quoted = !quoted;
    else if (character === '>' && !quoted) start = undefined;
  }
  return start === undefined ? undefined : text.slice(start);
}

function isClosed(tag: string): boolean {
  return (tag.split('"').length - 1) % 2 === 0;
}
