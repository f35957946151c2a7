import type { Logger } from '../../lib/index.ts';
import { traceExportOf } from './trace-export.ts';

/** A running export of traces. */
export interface Traces {
  /** Sends what is left, for some seconds at most. */
  stop(): Promise<void>;
}

/**
 * Starts the export of traces that the variables of OpenTelemetry ask for; undefined if they ask for none: nothing of its
 * SDK is loaded then.
 */
export async function startTraces(
  env: NodeJS.ProcessEnv,
  logger: Pick<Logger, 'info' | 'warn'>,
): Promise<Traces | undefined> {
  const how = traceExportOf(env);
  if (!how) return undefined;
  if (how.kind === 'unsupported') {
    logger.warn({}, how.problem);
    return undefined;
  }
  const { exportTraces } = await import('./sdk.ts');
  logger.info({ ...how }, 'traces are exported');
  return exportTraces(how, logger);
}
