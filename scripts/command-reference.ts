// What the manual says about commands and options, generated from the program: the command reference of appliance/cli.md
// and the tables of the configuration in appliance/operations.md. `node scripts/command-reference.ts` writes both; a test
// compares them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command, Option } from 'commander';
import { CONFIGURATION_GROUP } from '../appliance/cli/config-flags.ts';
import { createProgram, EXIT_CODES } from '../appliance/cli/program.ts';
import { OPTIONS, SECTIONS, shownDefault, variableOf } from '../appliance/config/options.ts';

/** The generated parts of the manual. */
export const GENERATED: readonly { file: string; part: string; text: () => string | Promise<string> }[] = [
  { file: 'appliance/cli.md', part: 'commands', text: async () => reference(await createProgram()) },
  { file: 'appliance/operations.md', part: 'options', text: optionTables },
];
const WIDTH = 118;

/** A page of the manual with the part that the program has now. */
export function withGenerated(page: string, part: string, text: string): string {
  const [opening, closing] = [
    `<!-- ${part}: made by scripts/command-reference.ts -->`,
    `<!-- end of ${part} -->`,
  ];
  const [begin, end] = [page.indexOf(opening), page.indexOf(closing)];
  if (begin < 0 || end < begin) throw new Error(`The page lacks ${opening} or ${closing}`);
  return `${page.slice(0, begin + opening.length)}\n\n${text}\n\n${page.slice(end)}`;
}

function optionTables(): string {
  return SECTIONS.map(({ title, rows }) => {
    const lines = Object.keys(rows).map((name) => {
      const option = OPTIONS[name as keyof typeof OPTIONS];
      const { allowed, type, unit, description } = option;
      const values = unit !== undefined && type !== 'choice' ? `${allowed}, in ${unit}` : allowed;
      const shown = shownDefault(option);
      const fallback = option.default === undefined || shown === 'none' ? shown : `\`${shown}\``;
      return `| \`${variableOf(name)}\` | ${fallback} | ${description} | ${values} |`;
    });
    return `**${title}**\n\n| variable | default | | values |\n|---|---|---|---|\n${lines.join('\n')}`;
  }).join('\n\n');
}

function reference(program: Command): string {
  const commands = leaves(program).map(({ path, command }) => {
    const words = [path, ...operands(command), ...command.options.filter(isOwn).map(usage)];
    return `${wrapped(words, '    ')}\n  ${wrapped(command.description().split(' '), '  ')}`;
  });
  const codes = EXIT_CODES.map(([code, meaning]) => `| ${code} | ${meaning} |`);
  return `\`\`\`text\n${commands.join('\n')}\n\`\`\`\n\n| exit code | |\n|---|---|\n${codes.join('\n')}`;
}

/** The commands without subcommands, with their full names. */
function leaves(command: Command, above = ''): { path: string; command: Command }[] {
  const path = `${above}${command.name()}`;
  if (command.commands.length === 0) return [{ path, command }];
  return command.commands.flatMap((sub) => leaves(sub, `${path} `));
}

function operands(command: Command): string[] {
  return command.registeredArguments.map((operand) => {
    const name = operand.variadic ? `${operand.name()}...` : operand.name();
    return operand.required ? `<${name}>` : `[${name}]`;
  });
}

/**
 * False for hidden options, and for configuration options, which are described in another section. A command's own
 * option may have the name of one, such as `render --quality`.
 */
function isOwn(option: Option): boolean {
  return !option.hidden && option.helpGroupHeading !== CONFIGURATION_GROUP;
}

function usage({ flags, mandatory }: Option): string {
  const short = flags.replace(', ', '|');
  return mandatory ? short : `[${short}]`;
}

/** Wraps words into lines with a hanging indent. */
function wrapped(words: string[], indent: string): string {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= WIDTH)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(last === undefined ? word : `${indent}${word}`);
  }
  return lines.join('\n');
}

if (import.meta.main) {
  for (const { file, part, text } of GENERATED) {
    const path = join(import.meta.dirname, '..', file);
    writeFileSync(path, withGenerated(readFileSync(path, 'utf8'), part, await text()));
  }
}
