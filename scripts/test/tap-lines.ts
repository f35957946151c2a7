/** Reads what tap prints. */

/** The end of a test or an assertion. */
export interface End {
  depth: number;
  ok: boolean;
  name: string;
  s: number;
}

const END = /^( *)(not )?ok \d+ - (.*?)(?: # time=([\d.]+)ms)?(?: \{)?$/;

export function parseEnd(line: string): End | undefined {
  const [, indent, not, name, ms] = END.exec(line) ?? [];
  if (indent === undefined || name === undefined) return undefined;
  return { depth: indent.length / 4, ok: not === undefined, name, s: Number(ms ?? 0) / 1_000 };
}

/** The lines without those of tests that passed. */
export function withoutPassed(lines: string[]): string[] {
  const left: string[] = [];
  for (const line of lines) {
    const end = parseEnd(line);
    if (!end?.ok) {
      left.push(line);
      continue;
    }
    const begin = left.lastIndexOf(`${'    '.repeat(end.depth)}# Subtest: ${end.name}`);
    // An assertion that passed has no lines of its own.
    const isOwn =
      begin >= 0 && left.slice(begin + 1).every((line) => line === '' || depthOf(line) > end.depth);
    if (isOwn) left.length = begin;
  }
  return left;
}

/** The names of failed files, tests and assertions, indented. */
export function failedTitles(lines: string[]): string[] {
  const titles = lines.flatMap((line) => {
    const end = parseEnd(line);
    return end && !end.ok ? [`${'    '.repeat(end.depth)}${end.name}`] : [];
  });
  return titles.reverse(); // In TAP, what contains others follows them.
}

function depthOf(line: string): number {
  return (line.length - line.trimStart().length) / 4;
}
