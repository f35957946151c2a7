import type { Finding } from '../../lib/index.ts';

type Fix = NonNullable<Finding['fix']>;

/** Source code with the replacement of a finding, as it says; undefined if it has none. */
export function replaced(code: string, finding: Finding): string | undefined {
  const lines = code.split('\n');
  const edit = finding.fix ?? firstCandidate(finding, lines[(finding.line ?? 0) - 1]);
  const line = edit === undefined ? undefined : lines[edit.line - 1];
  if (edit === undefined || line === undefined) return undefined;
  const characters = [...line];
  characters.splice(edit.column - 1, edit.endColumn - edit.column, edit.text);
  return lines.with(edit.line - 1, characters.join('')).join('\n');
}

/** The first candidate instead of the name in the message, where that stands in the place of the finding. */
function firstCandidate(finding: Finding, text: string | undefined): Fix | undefined {
  const { candidates, column, endColumn, line, endLine, message } = finding;
  const [candidate] = candidates;
  if (candidate === undefined || text === undefined || line === null) return undefined;
  const characters = [...text];
  const start = (column ?? 1) - 1;
  const end = endColumn !== null && endLine === line ? endColumn - 1 : characters.length;
  const part = characters.slice(start, end).join('');
  const names = namesIn(message);
  const word = [...part.matchAll(/\\?[A-Za-z_]\w*/g)].find(([name]) => names.includes(name));
  if (!word) return undefined;
  const from = start + [...part.slice(0, word.index)].length + 1;
  return { line, column: from, endColumn: from + [...word[0]].length, text: candidate };
}

/** What a message quotes, and commands of TeX. */
function namesIn(message: string): string[] {
  return [...message.matchAll(/['`]([^'`]+)['`]|(\\[a-zA-Z]+)/g)].map(
    ([, quoted, command]) => quoted ?? command ?? '',
  );
}
