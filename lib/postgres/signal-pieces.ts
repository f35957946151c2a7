/** Messages of a channel have less than 8,000 bytes. */
const PIECE_CHARACTERS = 7_500;
/** Signals whose remaining pieces have not arrived; the oldest is given up. */
const MOST_INCOMPLETE = 200;
/** Of a signal: 480 kB. */
const MOST_PIECES = 64;
const HEAD = /^#(\d+) (\d+)\/(\d+) /;

/** Splits a signal as JSON into messages. In ASCII, so that characters are bytes. */
export function piecesOf(signal: object, number: number): string[] {
  const json = JSON.stringify(signal).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  if (json.length <= PIECE_CHARACTERS) return [json];
  const count = Math.ceil(json.length / PIECE_CHARACTERS);
  return Array.from({ length: count }, (_, i) => {
    const piece = json.slice(i * PIECE_CHARACTERS, (i + 1) * PIECE_CHARACTERS);
    return `#${number} ${i}/${count} ${piece}`;
  });
}

/** Joins the pieces of signals. */
export class SignalPieces {
  readonly #incomplete = new Map<string, (string | undefined)[]>();

  /** The JSON of a signal; undefined until all its pieces from that sender have arrived, and for invalid pieces. */
  add(sender: string, message: string): string | undefined {
    const [head, number, place, count] = HEAD.exec(message) ?? [];
    if (head === undefined) return message;
    if (Number(count) > MOST_PIECES || Number(place) >= Number(count)) return undefined;
    const key = `${sender} ${number}`;
    const known = this.#incomplete.get(key);
    const pieces =
      known?.length === Number(count) ? known : Array.from<string | undefined>({ length: Number(count) });
    pieces[Number(place)] = message.slice(head.length);
    this.#incomplete.set(key, pieces);
    if (pieces.includes(undefined)) {
      const [oldest] = this.#incomplete.keys();
      if (this.#incomplete.size > MOST_INCOMPLETE && oldest !== undefined) this.#incomplete.delete(oldest);
      return undefined;
    }
    this.#incomplete.delete(key);
    return pieces.join('');
  }
}
