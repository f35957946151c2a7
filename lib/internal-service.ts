// What the appliance uses of a service, beyond the entry points of the library. The package does not export it.

export { ClassLinks } from './classroom/class-links.ts';
export { ScheduledBackups } from './data-folder/scheduled-backups.ts';
export { beginSpan, endSpan, markFault, SpanKind } from './tracing/spans.ts';
