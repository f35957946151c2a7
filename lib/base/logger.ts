/** The log of the library; compatible with pino. */
export interface Logger {
  debug(details: object, message: string): void;
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

const nothing = () => {};

/** Discards all lines; the default. */
export const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
