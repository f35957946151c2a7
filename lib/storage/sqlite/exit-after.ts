import type { Logger } from '../../logger.ts';

/** The exit code after a disk I/O error (`EX_IOERR`). */
const EXIT_IO_ERROR = 74;

/** Ends the process after a disk I/O error. Without a logger, standard error says why. */
export function exitAfter(error: Error, logger: Logger | undefined): never {
  const message = `The process exits with code ${EXIT_IO_ERROR}: ${error.message}`;
  if (logger) logger.error({ err: error }, message);
  else process.stderr.write(`${message}\n`);
  process.exit(EXIT_IO_ERROR);
}
