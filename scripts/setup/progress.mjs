/**
 * Shows what a set-up does.
 *
 * @typedef {object} Progress
 * @property {(line: string) => void} say prints a line
 * @property {(title: string, detail: () => string) => (isDone: boolean) => void} begin shows that a step is taken;
 *   `detail`: what has been downloaded or built so far. Returns what to call at its end
 */

const INTERVAL_MS = 500;
const UP = (lines) => `\x1b[${lines}A`;
const REST_OF_LINE = '\x1b[K';

/**
 * @param {NodeJS.WriteStream} stream
 * @returns {Progress}
 */
export function progressOn(stream) {
  return stream.isTTY ? liveLines(stream) : plainLines((line) => stream.write(`${line}\n`));
}

/**
 * Two lines for each step.
 *
 * @param {(line: string) => void} say
 * @returns {Progress}
 */
export function plainLines(say) {
  return {
    say,
    begin(title, detail) {
      const begunMs = performance.now();
      say(`${title} …`);
      return (isDone) => say(lineOf({ title, begunMs, endedMs: performance.now(), isDone, detail }));
    },
  };
}

/**
 * One line for each step, which is drawn again while any is taken.
 *
 * @param {NodeJS.WriteStream} stream
 * @returns {Progress}
 */
function liveLines(stream) {
  const rows = [];
  let drawn = 0;
  let timer;
  const draw = () => {
    const width = stream.columns || 80;
    // A line that is wrapped would be two.
    const lines = rows.map((row) => `${lineOf(row).slice(0, width - 1)}${REST_OF_LINE}\n`);
    stream.write(`${drawn > 0 ? UP(drawn) : ''}${lines.join('')}`);
    drawn = lines.length;
  };
  return {
    say(line) {
      stream.write(`${line}\n`);
      drawn = 0;
      rows.length = 0;
    },
    begin(title, detail) {
      const row = { title, detail, begunMs: performance.now(), endedMs: undefined, isDone: false };
      rows.push(row);
      timer ??= setInterval(draw, INTERVAL_MS);
      draw();
      return (isDone) => {
        Object.assign(row, { isDone, endedMs: performance.now(), detail: constant(row.detail()) });
        draw();
        if (rows.some(({ endedMs }) => endedMs === undefined)) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
  };
}

const constant = (value) => () => value;

function lineOf({ title, begunMs, endedMs, isDone, detail }) {
  const seconds = `${Math.round(((endedMs ?? performance.now()) - begunMs) / 1000)} s`;
  const state = endedMs === undefined || isDone ? seconds : `failed after ${seconds}`;
  const details = detail();
  return `${title}${endedMs === undefined ? ' …' : ':'} ${state}${details ? `, ${details}` : ''}`;
}
