import { context, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import t from 'tap';
import { contextOf, traceContextIn, validTraceContext } from '../../../lib/tracing/trace-context.ts';
import { recordSpans } from '../../fixtures/recorded-spans.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const VALID = `00-${TRACE}-b7ad6b7169203331-01`;

t.test('valid headers are taken as they are', async (t) => {
  t.same(validTraceContext({ traceparent: VALID }), { traceparent: VALID });
  const tracestate = 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE';
  t.same(validTraceContext({ traceparent: VALID, tracestate }), { traceparent: VALID, tracestate });
  const spanContext = trace.getSpanContext(contextOf({ traceparent: VALID, tracestate }));
  t.match(spanContext, { traceId: TRACE, spanId: 'b7ad6b7169203331', traceFlags: 1, isRemote: true });
});

t.test('later versions are read as version 00, and unknown flags are not passed on', async (t) => {
  const later = `cc-${TRACE}-b7ad6b7169203331-ff-what-the-future-brings`;
  t.same(validTraceContext({ traceparent: later }), { traceparent: `00-${TRACE}-b7ad6b7169203331-03` });
});

t.test('malformed headers are ignored', async (t) => {
  for (const traceparent of [
    '',
    'nonsense',
    VALID.toUpperCase(),
    `${VALID}-more`,
    `${VALID}, ${VALID}`,
    `ff-${TRACE}-b7ad6b7169203331-01`,
    `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
  ])
    t.equal(validTraceContext({ traceparent }), undefined, traceparent);
  for (const tracestate of ['no pairs', `a=${'x'.repeat(600)}`, 'a=\u0000'])
    t.same(validTraceContext({ traceparent: VALID, tracestate }), { traceparent: VALID }, tracestate);
  t.equal(contextOf({ traceparent: 'nonsense' }), ROOT_CONTEXT);
  t.equal(contextOf(null), ROOT_CONTEXT);
});

t.test('headers of both kinds are read, unless a span is active', async (t) => {
  const given = { traceparent: VALID, tracestate: 'a=1' };
  t.same(traceContextIn(given), { traceContext: given });
  t.same(traceContextIn(new Headers(given)), { traceContext: given });
  t.same(traceContextIn({}), {});
  t.same(traceContextIn({ ...given, tracestate: ['a=1', 'b=2'] }), { traceContext: { traceparent: VALID } });
  recordSpans(t);
  trace.getTracer('host').startActiveSpan('request', (span) => {
    t.same(traceContextIn(given), {});
    span.end();
  });
  t.same(context.active(), ROOT_CONTEXT);
});
