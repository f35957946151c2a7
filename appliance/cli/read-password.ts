import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { UserError } from '../support/user-error.ts';

/** Reads a password: hidden and twice from a terminal, otherwise the first line of standard input. */
export async function readPassword(): Promise<string> {
  if (!process.stdin.isTTY) {
    const [line = ''] = (await text(process.stdin)).split(/\r?\n/, 1);
    return line;
  }
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true });
  const ask = async (question: string) => {
    process.stderr.write(question);
    const answer = await terminal.question('');
    process.stderr.write('\n');
    return answer;
  };
  try {
    const password = await ask('New password: ');
    if ((await ask('Repeat it: ')) === password) return password;
    throw new UserError('The passwords differ. Nothing was changed.', { exitCode: 2 });
  } finally {
    terminal.close();
  }
}
