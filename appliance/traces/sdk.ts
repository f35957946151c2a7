import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { context, DiagLogLevel, diag, propagation, trace } from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ConsoleSpanExporter,
  NodeTracerProvider,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-node';
import type { Logger } from '../../lib/index.ts';
import { systemClock, within } from '../../lib/internal.ts';
import { VERSION } from '../support/version.ts';
import { ProblemLog } from './problem-log.ts';
import type { TraceExport } from './trace-export.ts';
import type { Traces } from './traces.ts';

/**
 * How long an export may take, unless a variable says otherwise. Shorter than the SDK's 10 s: requests to a collector that
 * does not answer would keep a stopped process alive.
 */
const EXPORT_MS = 4_000;
/** How long a stop waits for the last one. */
const FLUSH_MS = 5_000;

/**
 * Registers a provider whose spans are exported in batches. Sampler, limits, queue (2,048 spans; more are dropped), headers
 * and certificates are those of the variables of OpenTelemetry, which the SDK reads.
 */
export function exportTraces(
  how: Exclude<TraceExport, { kind: 'unsupported' }>,
  logger: Pick<Logger, 'warn'>,
): Traces {
  diag.setLogger(new ProblemLog(logger, systemClock), { logLevel: DiagLogLevel.WARN });
  const provider = new NodeTracerProvider({
    resource: resourceOf(),
    spanProcessors: [new BatchSpanProcessor(exporterOf(how))],
  });
  provider.register();
  return {
    stop: async () => {
      // What could not be sent has been logged.
      await within(
        systemClock,
        FLUSH_MS,
        provider.shutdown().catch(() => {}),
      );
      for (const api of [trace, context, propagation, diag]) api.disable();
    },
  };
}

function exporterOf(how: Exclude<TraceExport, { kind: 'unsupported' }>): SpanExporter {
  if (how.kind === 'console') return new ConsoleSpanExporter();
  const { OTEL_EXPORTER_OTLP_TIMEOUT, OTEL_EXPORTER_OTLP_TRACES_TIMEOUT } = process.env;
  const isTimed = OTEL_EXPORTER_OTLP_TIMEOUT || OTEL_EXPORTER_OTLP_TRACES_TIMEOUT;
  const options = isTimed ? {} : { timeoutMillis: EXPORT_MS };
  return how.protocol === 'http/json' ? new JsonExporter(options) : new ProtobufExporter(options);
}

/** Describes this process; OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence. */
function resourceOf(): Resource {
  const own = resourceFromAttributes({
    'service.name': 'scenepress',
    'service.version': VERSION,
    'service.instance.id': randomUUID(),
    'host.name': hostname(),
  });
  return defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [envDetector] }));
}
