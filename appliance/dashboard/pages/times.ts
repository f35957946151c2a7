const WITHOUT_ZONE = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/;

/** A time of a form or URL in ISO 8601: without a zone, as browsers send it, it is UTC. */
export function utcTime(text: string): string {
  return WITHOUT_ZONE.test(text) ? `${text}Z` : text;
}

/** The value of an input of the type `datetime-local`. */
export function inputTime(text: string | undefined): string | undefined {
  const ms = text === undefined ? Number.NaN : Date.parse(utcTime(text));
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString().slice(0, 16);
}
