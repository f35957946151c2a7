import type { Fault, Fix } from './fixes.ts';

/** What the server has found, as far as the editor shows it. */
export interface Finding {
  kind: string;
  severity: 'error' | 'warning';
  message: string;
  line: number | null;
  column: number | null;
  hint: string | null;
  /** Columns count characters, from 1. */
  fix: { line: number; column: number; endColumn: number; text: string } | null;
}

/** What both answers have found: what was found by running replaces what was found by reading at the same place. */
export function joined(read: Finding[], run: Finding[]): Finding[] {
  const isSame = (one: Finding, other: Finding) =>
    one.line === other.line &&
    one.kind === other.kind &&
    (one.column === other.column || one.message === other.message);
  const others = read.filter((finding) => !run.some((other) => isSame(finding, other)));
  return [...others, ...run].sort((one, other) => (one.line ?? 0) - (other.line ?? 0));
}

/** How the editor shows a finding of a code. */
export function faultOf(finding: Finding, code: string): Fault {
  const { line, message, hint, severity } = finding;
  return {
    line: line ?? 1,
    message,
    hint: hint ?? undefined,
    severity,
    fix: fixOf(finding, code.split('\n')),
  };
}

/** The editor counts UTF-16 units, and findings count characters. */
function fixOf({ fix }: Finding, lines: string[]): Fix | undefined {
  const source = fix === null ? undefined : lines[fix.line - 1];
  if (fix === null || source === undefined) return undefined;
  const characters = Array.from(source);
  const unitsBefore = (column: number) => characters.slice(0, column - 1).join('').length;
  const { line, column, endColumn, text } = fix;
  return { line, from: unitsBefore(column), to: unitsBefore(endColumn), text };
}
