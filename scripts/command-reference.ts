// The command reference of appliance/cli.md, generated from the program's own help. `node scripts/command-reference.ts`
// writes it; a test compares the two.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command, Option } from 'commander';
import { CONFIGURATION_GROUP } from '../appliance/cli/config-flags.ts';
import { createProgram, EXIT_CODES } from '../appliance/cli/program.ts';

const MANUAL = join(import.meta.dirname, '../appliance/cli.md');
const [BEGIN, END] = ['<!-- commands: made by scripts/command-reference.ts -->', '<!-- end of commands -->'];
const WIDTH = 118;

/** The manual with the reference that the program has now. */
export function withReference(manual: string): string {
  const [begin, end] = [manual.indexOf(BEGIN), manual.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`appliance/cli.md lacks ${BEGIN} or ${END}`);
  return `${manual.slice(0, begin + BEGIN.length)}\n\n${reference(createProgram())}\n\n${manual.slice(end)}`;
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

if (import.meta.main) writeFileSync(MANUAL, withReference(readFileSync(MANUAL, 'utf8')));
