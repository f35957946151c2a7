import { writeFileSync } from 'node:fs';
import { failureOf, SetupError } from './failures.mjs';

/**
 * @typedef {object} Step
 * @property {string} title
 * @property {string} source where it downloads from
 * @property {() => boolean} isDone whether its result is there; takes milliseconds
 * @property {() => string | undefined} [refusal] why it can't be taken here, and how to fix that
 * @property {(run: import('./run.mjs').Run) => Promise<void>} take builds the result beside its place, then renames it
 */

/**
 * Checks, does and verifies a step.
 *
 * @param {Step} step
 * @param {import('./run.mjs').Run} run
 */
export async function takeStep(step, run) {
  // Another setup may have done it while this one waited.
  if (step.isDone()) return;
  const refusal = step.refusal?.();
  if (refusal) throw new SetupError(refusal);

  const start = performance.now();
  const seconds = () => `${Math.round((performance.now() - start) / 1000)} s`;
  writeFileSync(run.log, `\n=== ${step.title}\n`);

  const live = process.stdout.isTTY
    ? setInterval(() => run.print(`\r${step.title} … ${seconds()}`), 1000)
    : undefined;
  run.print(`${step.title} … `);
  try {
    await step.take(run);
    if (!step.isDone()) throw new Error('it ended without an error, but its result is missing');
    clearInterval(live);
    run.print(`${live ? `\r${step.title} … ` : ''}${seconds()}\n`);
  } catch (error) {
    clearInterval(live);
    run.print('failed\n');
    throw failureOf(error, step, run);
  }
}
