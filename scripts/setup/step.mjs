import { readFileSync } from 'node:fs';
import { failureOf, SetupError } from './failures.mjs';
import { withOwnLog, withSignals } from './run.mjs';

/**
 * @typedef {object} Step
 * @property {string} title
 * @property {string} source where it downloads from
 * @property {() => boolean} isDone whether its result is there; takes milliseconds
 * @property {() => string | undefined} [refusal] why it can't be taken here, and how to fix that
 * @property {Step[]} [after] steps whose results it needs
 * @property {(output: string) => string} [detail] what has been downloaded or built, by the output of its programs
 * @property {(run: import('./run.mjs').Run) => Promise<void>} take builds the result beside its place, then renames it
 */

/**
 * Checks, takes and verifies steps, each as soon as those have ended whose results it needs. If one fails, no other begins;
 * those that run go on to their end.
 *
 * @param {Step[]} steps
 * @param {import('./run.mjs').Run} run
 * @throws {SetupError} of the step that failed first
 */
export async function takeSteps(steps, run) {
  // Another setup may have taken some while this one waited.
  for (const step of steps.filter((step) => !step.isDone())) {
    const refusal = step.refusal?.();
    if (refusal) throw new SetupError(refusal);
  }
  let failure;
  const taken = new Map();
  const take = (step) => {
    const begun = taken.get(step) ?? afterOthers(step);
    taken.set(step, begun);
    return begun;
  };
  const afterOthers = async (step) => {
    const others = step.after?.filter((other) => steps.includes(other)) ?? [];
    await Promise.all(others.map(take));
    // Only now: an update of TeX, for example, makes its sample outdated.
    if (failure || step.isDone()) return;
    const problem = await takeStep(step, run);
    failure ??= problem;
  };
  await withSignals(run, () => Promise.all(steps.map(take)));
  if (failure) throw failure;
}

/** Returns the error of a failure. */
function takeStep(step, run) {
  return withOwnLog(run, step.title, async (own) => {
    const detail = () => step.detail?.(readFileSync(own.logPath, 'utf8')) ?? '';
    const ended = run.progress.begin(step.title, detail);
    try {
      await step.take(own);
      if (!step.isDone()) throw new Error('it ended without an error, but its result is missing');
      ended(true);
      return undefined;
    } catch (error) {
      ended(false);
      return failureOf(error, step, { logPath: own.logPath, fullLogPath: run.logPath });
    }
  });
}
