import { stdSerializers } from 'pino';

const LONGEST_FIELD = 1_000;

/**
 * An error as it is logged: type, message and stack with those of its causes, and its simple fields, such as `code`.
 * Libraries attach whole clients, requests and sockets to their errors, with configuration and certificates.
 */
export function loggedError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { type, message, stack, aggregateErrors: _, ...fields } = stdSerializers.err(error);
  const errors: unknown = error instanceof AggregateError ? error.errors : undefined;
  return {
    ...{ type, message, stack },
    ...Object.fromEntries(Object.entries(fields).filter(isSimple).map(shortened)),
    ...(Array.isArray(errors) && { aggregateErrors: errors.map(loggedError) }),
  };
}

function isSimple([, value]: [string, unknown]): boolean {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

function shortened([name, value]: [string, unknown]): [string, unknown] {
  return [name, typeof value === 'string' ? value.slice(0, LONGEST_FIELD) : value];
}
