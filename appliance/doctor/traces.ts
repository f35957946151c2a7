import { traceExportOf } from '../traces/trace-export.ts';
import { type Finding, ok, warning } from './finding.ts';

const CHECK = 'Traces';
const ANSWER_MS = 3_000;
/** An empty export. */
const NOTHING = '{"resourceSpans":[]}';

/** Checks that a collector of traces answers, if the variables of OpenTelemetry name one; undefined if they name none. */
export async function examineTraces(env: NodeJS.ProcessEnv): Promise<Finding | undefined> {
  const how = traceExportOf(env);
  if (!how) return undefined;
  if (how.kind === 'unsupported')
    return warning(CHECK, how.problem, 'Correct the variable, then restart the service.');
  if (how.kind === 'console') return ok(CHECK, 'they are printed on standard output');
  try {
    // Without its headers, a collector may refuse the request: that is an answer, too.
    await fetch(how.endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: NOTHING,
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    return ok(CHECK, `${how.endpoint} answers`);
  } catch (error) {
    const { cause, message } = error as Error & { cause?: NodeJS.ErrnoException };
    return warning(
      CHECK,
      `the collector ${how.endpoint} does not answer (${cause?.code ?? message}); spans are lost`,
      'Start the collector, or correct OTEL_EXPORTER_OTLP_ENDPOINT.',
    );
  }
}
