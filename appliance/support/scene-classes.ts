const CLASS = /^class[ \t]+([A-Za-z_]\w*)[ \t]*\(/gm;
/** Of the bases of a class: a code with 20,000 open brackets would otherwise be searched as often to its end. */
const LONGEST_BASES = 1000;

/**
 * The scenes of a source, from its text alone: classes with a base whose name ends in `Scene`, or that is such a class. For
 * processes that run no code.
 */
export function sceneClassesIn(code: string): string[] {
  const found = new Set<string>();
  for (const { 0: start, 1: name = '', index } of code.matchAll(CLASS)) {
    const from = index + start.length;
    const [bases = '', ...closed] = code.slice(from, from + LONGEST_BASES).split(')', 2);
    if (closed.length === 0) continue;
    const isScene = bases.split(',').some((base) => /Scene$/.test(base.trim()) || found.has(base.trim()));
    if (isScene) found.add(name);
  }
  return [...found].sort();
}
