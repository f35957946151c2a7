const SECRETS: [RegExp, string][] = [
  [/svc_live_\w*/gi, 'svc_live_…'],
  [/whsec_\w*/gi, 'whsec_…'],
  [/\bBearer +\S+/gi, 'Bearer …'],
  // A job id grants access to its artifacts, so only its timestamp is kept.
  [/\b([0-9a-f]{16})[0-9a-f]{32}\b/gi, '$1…'],
  [/\b[0-9a-f]{32,}\b/gi, '…'],
  // E-mail addresses and credentials in URLs.
  [/[^\s@"'<>:/]+(:[^\s@"'<>/]*)?@[^\s@"'<>/]+/g, '…@…'],
];

/** Fields of log lines without data of clients or scenes. */
const LOG_FIELDS = new Set(
  (
    'level time msg version operation signal requestId method path status ms jobId deliveryId attempt attempts err ' +
    'reason sandbox queuePausedAt accounts entries jobs problems againInMs threads part state port workers'
  ).split(' '),
);

/** Removes keys, secrets, ids that grant access, and e-mail addresses. */
export function redact(text: string): string {
  return SECRETS.reduce((clean, [pattern, instead]) => clean.replace(pattern, instead), text);
}

/** Redacts a JSON log line; undefined if it isn't a JSON object. */
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
