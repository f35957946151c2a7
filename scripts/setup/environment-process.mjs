// Builds the Python environment of the renderer in a folder, for `ensureRenderer` of the library, which starts this as a
// process and receives its messages: `{ message }` for each step, `{ problem }` at a failure.
import { SetupError, setUp } from './index.mjs';

/** Ends this process and the programs that it runs, because the program that wants the environment has ended. */
const endAll = () => process.kill(-process.pid, 'SIGKILL');

// A message that can't be sent tells it before the event does.
process.on('disconnect', endAll).on('error', endAll);

const send = (message) => process.send(message);

const progress = {
  say: (line) => send({ message: line.replace(/ …$/, '') }),
  begin(title) {
    send({ message: title });
    return () => {};
  },
};

try {
  await setUp({ pythonOnly: process.argv[2], system: 'check', progress });
  process.exit(0);
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  process.send({ problem: error.message }, () => process.exit(1));
}
