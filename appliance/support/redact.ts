const SECRETS: [RegExp, string][] = [
  [/svc_live_\w*/gi, 'svc_live_…'],
  [/whsec_\w*/gi, 'whsec_…'],
  [/\bBearer +\S+/gi, 'Bearer …'],
  // A job's id opens its artifacts, so only the time in it is left.
  [/\b([0-9a-f]{16})[0-9a-f]{32}\b/gi, '$1…'],
  [/\b[0-9a-f]{32,}\b/gi, '…'],
  // Addresses of people, and what stands before the host of a URL.
  [/[^\s@"'<>:/]+(:[^\s@"'<>/]*)?@[^\s@"'<>/]+/g, '…@…'],
];

/** Fields of log lines that hold nothing of clients and their scenes. */
const LOG_FIELDS = new Set(
  (
    'level time msg version operation signal requestId method path status ms jobId deliveryId attempt attempts err ' +
    'reason sandbox queuePausedAt accounts entries jobs problems againInMs threads part state port workers'
  ).split(' '),
);

/** Text without keys, secrets, ids that open something, and addresses of people. */
export function redact(text: string): string {
  return SECRETS.reduce((clean, [pattern, instead]) => clean.replace(pattern, instead), text);
}

/** Lines of a log (JSON, one object a line), redacted; undefined for one that is none. */
export function redactLogLine(line: string): string | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof parsed !== 'object' || parsed === null) return undefined;
  const kept = Object.entries(parsed).filter(([name]) => LOG_FIELDS.has(name));
  return redact(JSON.stringify(Object.fromEntries(kept)));
}
