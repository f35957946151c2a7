import { withoutControlCharacters } from '../base/line-reader.ts';
import { FINDING_KINDS, faultOf, findingOf } from './finding.ts';
import type { Box, Call, Finding, Fix, LayoutFinding, TexFinding } from './finding-types.ts';
import type { SceneFault } from './renderer-messages.ts';

const LONGEST = { message: 2000, hint: 500, line: 200, name: 100, tex: 300 };
const MOST = { findings: 20, candidates: 5, packages: 5, calls: 14 };
const GREATEST_NUMBER = 1e7;

type Fields = Record<string, unknown>;

/** Sanitizes what a scene's process says about a failure; what is missing or invalid is as if it were not known. */
export function parseFinding(value: unknown, failure: { error: string; failedBy: SceneFault }): Finding {
  const plain = findingOf(failure);
  if (!isObject(value)) return plain;
  const kind = FINDING_KINDS.find((known) => known === value['kind'] && faultOf(known) === failure.failedBy);
  return { ...fieldsOf(value, plain), kind: kind ?? plain.kind };
}

/** Sanitizes a fault of what a scene shows; undefined if it is none. */
export function parseWarning(value: unknown): Finding | undefined {
  if (!isObject(value)) return undefined;
  const kind = FINDING_KINDS.find((known) => known === value['kind']);
  const isShown = kind?.startsWith('layout:') || kind === 'scene:points';
  const message = text(value['message'], LONGEST.message);
  if (kind === undefined || !isShown || message === null) return undefined;
  const plain = findingOf({ error: message, failedBy: 'scene' });
  return { ...fieldsOf(value, plain), kind, severity: 'warning' };
}

function fieldsOf(value: Fields, plain: Finding): Finding {
  return {
    kind: plain.kind,
    severity: 'error',
    message: text(value['message'], LONGEST.message) ?? plain.message,
    line: position(value['line']),
    column: position(value['column']),
    endLine: position(value['endLine']),
    endColumn: position(value['endColumn']),
    sourceLine: text(value['sourceLine'], LONGEST.line),
    hint: text(value['hint'], LONGEST.hint) ?? plain.hint,
    candidates: texts(value['candidates'], MOST.candidates),
    fix: isObject(value['fix']) ? fix(value['fix'], position(value['line'])) : null,
    tex: isObject(value['tex']) ? tex(value['tex']) : null,
    layout: isObject(value['layout']) ? layout(value['layout']) : null,
    play: value['play'] === 0 ? 0 : position(value['play']),
    calls: items(value['calls'], MOST.calls).filter(isObject).map(call),
  };
}

/** Sanitizes what was found in a source; what has no message is left out. */
export function parseFindings(value: unknown): Finding[] {
  return items(value, MOST.findings)
    .filter(isObject)
    .filter(({ message }) => text(message, LONGEST.message) !== null)
    .map((given) => {
      const failedBy = faultOf(FINDING_KINDS.find((kind) => kind === given['kind']) ?? 'scene:error');
      const found = parseFinding(given, { error: '', failedBy: failedBy ?? 'scene' });
      return { ...found, severity: given['severity'] === 'warning' ? 'warning' : 'error' };
    });
}

/** `foundLine`: the line of the finding, which is that of the fix if it names none. */
function fix({ line, column, endColumn, text: replacement }: Fields, foundLine: number | null): Fix | null {
  const [from, to] = [position(column), position(endColumn)];
  const [at, written] = [position(line) ?? foundLine, lines(replacement, LONGEST.line)];
  return at === null || from === null || to === null || to < from || written === null
    ? null
    : { line: at, column: from, endColumn: to, text: written };
}

function layout({ mobject, box: place, seconds }: Fields): LayoutFinding {
  return {
    mobject: text(mobject, LONGEST.name),
    box: isObject(place) ? box(place) : null,
    seconds: isNumber(seconds) && seconds >= 0 ? seconds : 0,
  };
}

function box({ left, right, bottom, top }: Fields): Box | null {
  const isBox = isNumber(left) && isNumber(right) && isNumber(bottom) && isNumber(top);
  return isBox ? { left, right, bottom, top } : null;
}

function tex({ source, logLine, packages }: Fields): TexFinding {
  return {
    source: text(source, LONGEST.tex) ?? '',
    logLine: text(logLine, LONGEST.tex) ?? '',
    packages: texts(packages, MOST.packages),
  };
}

function call({ file, line, function: name, source }: Fields): Call {
  return {
    file: text(file, LONGEST.line) ?? '',
    line: position(line) ?? 0,
    function: text(name, LONGEST.name) ?? '',
    source: text(source, LONGEST.line) ?? '',
  };
}

function texts(value: unknown, most: number): string[] {
  return items(value, most).flatMap((item) => text(item, LONGEST.name) ?? []);
}

function items(value: unknown, most: number): unknown[] {
  return Array.isArray(value) ? value.slice(0, most) : [];
}

/** In one line. Null when it is no text, or empty. */
function text(value: unknown, longest: number): string | null {
  if (typeof value !== 'string') return null;
  const line = withoutControlCharacters(value.slice(0, longest)).replaceAll(/\s/g, ' ').trim();
  return line === '' ? null : line.toWellFormed();
}

/** A text without control characters, except for line breaks. Null for anything else, and for an empty text. */
function lines(value: unknown, longest: number): string | null {
  if (typeof value !== 'string' || value === '') return null;
  const kept = value.slice(0, longest).split('\n').map(withoutControlCharacters);
  return kept.join('\n').toWellFormed();
}

function position(value: unknown): number | null {
  const isPosition = Number.isSafeInteger(value) && (value as number) >= 1;
  return isPosition && (value as number) <= GREATEST_NUMBER ? (value as number) : null;
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= GREATEST_NUMBER;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
