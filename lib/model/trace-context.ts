/** A W3C trace context, as the headers of a request. */
export interface TraceContext {
  /** Version, trace id, parent id and flags. */
  traceparent: string;
  /** What systems of tracing add. */
  tracestate?: string;
}

/** The trace context that is stored with a job: that of its acceptance. */
export interface JobTraceContext extends TraceContext {
  /** When the job began to wait again, in epoch milliseconds; absent before its first attempt. */
  queuedAtMs?: number;
}
