/** The SDK of OpenTelemetry as one file of the executable, which only a service that exports traces reads. */
export * from '@opentelemetry/exporter-trace-otlp-proto';
export {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
export { BatchSpanProcessor, ConsoleSpanExporter, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
