/** How the traces of this process are exported. `endpoint`: where to, without what may be secret. */
export type TraceExport =
  | { kind: 'otlp'; protocol: 'http/protobuf' | 'http/json'; endpoint: string }
  | { kind: 'console' }
  /** The variables ask for something else; `problem`: a sentence for the operator. */
  | { kind: 'unsupported'; problem: string };

type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_ENDPOINT = 'http://localhost:4318';
const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT';
const TRACES_ENDPOINT = 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';

/**
 * What the standard variables of OpenTelemetry ask for; undefined: no export, as without an endpoint and an exporter. As in
 * its specification, an empty variable is as if it were not set.
 */
export function traceExportOf(env: Environment): TraceExport | undefined {
  if (firstOf(env, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return undefined;
  const isAimed = firstOf(env, ENDPOINT, TRACES_ENDPOINT) !== undefined;
  const exporter = firstOf(env, 'OTEL_TRACES_EXPORTER') ?? (isAimed ? 'otlp' : 'none');
  if (exporter === 'none') return undefined;
  if (exporter === 'console') return { kind: 'console' };
  if (exporter !== 'otlp') return unsupported(`OTEL_TRACES_EXPORTER=${exporter}`, 'otlp, console or none');
  const protocol =
    firstOf(env, 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL') ?? 'http/protobuf';
  if (protocol !== 'http/protobuf' && protocol !== 'http/json')
    return unsupported(
      `the protocol ${protocol} of OTLP`,
      'http/protobuf or http/json, usually on port 4318',
    );
  const endpoint = URL.parse(endpointOf(env));
  if (!endpoint || !/^https?:$/.test(endpoint.protocol))
    return unsupported('the endpoint of OTLP', 'an http:// or https:// URL');
  return { kind: 'otlp', protocol, endpoint: `${endpoint.origin}${endpoint.pathname}` };
}

function endpointOf(env: Environment): string {
  const base = firstOf(env, ENDPOINT) ?? DEFAULT_ENDPOINT;
  return firstOf(env, TRACES_ENDPOINT) ?? `${base.replace(/\/$/, '')}/v1/traces`;
}

/** The first variable that is set. */
function firstOf(env: Environment, ...names: string[]): string | undefined {
  return names.map((name) => env[name]?.trim()).find((value) => value !== undefined && value !== '');
}

function unsupported(what: string, use: string): TraceExport {
  const problem = `Traces are not exported: ${what} is not supported. Use ${use}.`;
  return { kind: 'unsupported', problem };
}
