import { type Command, CommanderError } from 'commander';
import { isScenepressError } from '../../lib/internal.ts';
import { UserError } from '../support/user-error.ts';
import { printable } from './output.ts';
import { createProgram } from './program.ts';

/** Internal error, as in sysexits.h. `program.ts` lists all exit codes. */
const EXIT_SOFTWARE = 70;

/** Runs the command of this process's arguments and sets the exit code. */
export async function runProgram(): Promise<void> {
  try {
    const words = process.argv.slice(2);
    const program = await createProgram(words[0]);
    throwInsteadOfExiting(program);
    await program.parseAsync(wordsFor(program, words), { from: 'user' });
  } catch (error) {
    process.exitCode = report(error);
  }
}

/**
 * `help job show` is `job show --help`, and with a misspelled command that command, which is reported: commander knows
 * the first word only, and shows the general help for others.
 */
function wordsFor(program: Command, words: string[]): string[] {
  const [first, ...names] = words;
  if (first !== 'help' || names.length === 0) return words;
  let { commands } = program;
  for (const [i, name] of names.entries()) {
    const found = commands.find((command) => command.name() === name);
    if (!found) return commands.length === 0 ? [...names.slice(0, i), '--help'] : names.slice(0, i + 1);
    ({ commands } = found);
  }
  return [...names, '--help'];
}

/** By default commander exits the process, with 1 for wrong usage. Subcommands don't inherit the override. */
function throwInsteadOfExiting(command: Command): void {
  command.exitOverride();
  command.commands.forEach(throwInsteadOfExiting);
}

function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2; // Commander has printed the message.
  // Messages may be those of a server or scene.
  if (error instanceof UserError) {
    process.stderr.write(`scenepress: ${printable(error.message)}\n`);
    return error.exitCode;
  }
  if (isScenepressError(error)) {
    process.stderr.write(`scenepress: ${printable(error.message)}\n`);
    return 1;
  }
  process.stderr.write(`scenepress: unexpected error\n${printable(String((error as Error).stack))}\n`);
  return EXIT_SOFTWARE;
}
