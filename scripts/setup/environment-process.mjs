// Builds the Python environment of the renderer in a folder, for `ensureRenderer` of the library, which starts this as a
// process and receives its messages: `{ message }` for each step, `{ problem }` at a failure.
import { SetupError, setUp } from './index.mjs';

// The program that wants the environment has ended: so do this process and the programs that it runs.
process.on('disconnect', () => process.kill(-process.pid, 'SIGKILL'));

const send = (message) => new Promise((settle) => process.send(message, settle));

const progress = {
  say: (line) => process.send({ message: line.replace(/ …$/, '') }),
  begin(title) {
    process.send({ message: title });
    return () => {};
  },
};

try {
  await setUp({ pythonOnly: process.argv[2], system: 'check', progress });
  process.exit(0);
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  await send({ problem: error.message });
  process.exit(1);
}
