import { type Command, CommanderError } from 'commander';
import { isScenepressError } from '../../lib/index.ts';
import { UserError } from '../user-error.ts';
import { printable } from './output.ts';

/** Internal error, as in sysexits.h. `program.ts` lists all exit codes. */
const EXIT_SOFTWARE = 70;

/** Runs the command of this process's arguments and sets the exit code. */
export async function runProgram(): Promise<void> {
  try {
    const program = await programFor(process.argv[2]);
    throwInsteadOfExiting(program);
    await program.parseAsync();
  } catch (error) {
    process.exitCode = report(error);
  }
}

/** `render` is often repeated, so it doesn't wait for the modules of the other commands. */
async function programFor(command: string | undefined): Promise<Command> {
  if (command !== 'render') return (await import('./program.ts')).createProgram();
  const { renderProgram } = await import('./render-program.ts');
  return renderProgram();
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
