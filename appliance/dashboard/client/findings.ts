import type { Fault, Fix } from './editor.ts';

/** What the server has found, as far as the editor shows it. Columns count characters, from 1. */
export interface Finding {
  kind: string;
  message: string;
  line: number | null;
  column: number | null;
  endLine: number | null;
  endColumn: number | null;
  hint: string | null;
  candidates: string[];
}

/** Which part of what was found is replaced, by kind. */
const REPLACED: Record<string, RegExp> = {
  'scene:name': /^\w+$/,
  'scene:attribute': /\w+$/,
  'scene:argument': /^\w+(?=\s*=)/,
};
/** Hints that name one replacement. */
const NAMES_ONE = /^Did you mean `|: use `[\w.]+`\.$/;

/** How the editor shows a finding of a code. */
export function faultOf(finding: Finding, code: string): Fault {
  const { line, message, hint } = finding;
  return { line: line ?? 1, message, hint: hint ?? undefined, fix: fixOf(finding, code.split('\n')) };
}

function fixOf(
  { kind, line, endLine, column, endColumn, hint, candidates }: Finding,
  lines: string[],
): Fix | undefined {
  const [text] = candidates;
  const source = line === null ? undefined : lines[line - 1];
  const isInLine = line === endLine && column !== null && endColumn !== null;
  if (text === undefined || source === undefined || !isInLine || !NAMES_ONE.test(hint ?? ''))
    return undefined;
  const characters = Array.from(source);
  const before = characters.slice(0, column - 1).join('');
  const found = REPLACED[kind]?.exec(characters.slice(column - 1, endColumn - 1).join(''));
  if (!found) return undefined;
  const from = before.length + found.index;
  return { from, to: from + found[0].length, text };
}
