/**
 * The exact source text of a member of a JSON object; undefined if it is missing. Of duplicate members it returns the
 * last, like JSON.parse.
 *
 * Parsing and serializing a value would change it: `1.0` becomes `1`, `1e400` becomes `null`. Counts brackets instead
 * of recursing, because a value may be nested thousands of levels deep.
 *
 * @param json an object that JSON.parse accepts
 */
export function rawMember(json: string, name: string): string | undefined {
  let found: string | undefined;
  let at = skipSpace(json, json.indexOf('{') + 1);
  while (json[at] === '"') {
    const keyEnd = endOfString(json, at);
    const key: unknown = JSON.parse(json.slice(at, keyEnd));
    const start = skipSpace(json, skipSpace(json, keyEnd) + 1);
    const end = endOfValue(json, start);
    if (key === name) found = json.slice(start, end);
    at = skipSpace(json, skipSpace(json, end) + 1);
  }
  return found;
}

function skipSpace(json: string, at: number): number {
  let next = at;
  while (json[next] === ' ' || json[next] === '\n' || json[next] === '\r' || json[next] === '\t') next++;
  return next;
}

/** The index after the closing quote. */
function endOfString(json: string, start: number): number {
  for (let quote = json.indexOf('"', start + 1); ; quote = json.indexOf('"', quote + 1)) {
    let before = quote - 1;
    while (json[before] === '\\') before--;
    // The quote is escaped if it follows an odd number of backslashes.
    if ((quote - before) % 2 === 1) return quote + 1;
  }
}

/** The index after a value. */
function endOfValue(json: string, start: number): number {
  let depth = 0;
  let at = start;
  do {
    const character = json[at];
    if (character === '"') {
      at = endOfString(json, at);
    } else if (character === '{' || character === '[') {
      depth++;
      at++;
    } else if (character === '}' || character === ']') {
      depth--;
      at++;
    } else if (depth > 0) {
      at++;
    } else {
      // A number, true, false or null.
      while (at < json.length && !',}] \n\r\t'.includes(json.charAt(at))) at++;
    }
  } while (depth > 0);
  return at;
}
