import { UserError } from '../support/user-error.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Runs `work` with a signal that Ctrl-C aborts; the command then exits with 130. */
export async function interruptible(work: (interrupted: AbortSignal) => Promise<void>): Promise<void> {
  const interrupted = new AbortController();
  const { signal } = interrupted;
  const interrupt = () => interrupted.abort();
  // Not `once`: a second Ctrl-C must not leave processes and files behind.
  for (const signal of SIGNALS) process.on(signal, interrupt);
  try {
    await work(signal);
    signal.throwIfAborted();
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new UserError('Interrupted.', { exitCode: 130, cause: error });
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupt);
  }
}
