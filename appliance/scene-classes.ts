const CLASS = /^class[ \t]+([A-Za-z_]\w*)[ \t]*\(([^)]*)\)/gm;

/**
 * The scenes of a source, from its text alone: classes with a base whose name ends in `Scene`, or that is such a class. For
 * processes that run no code.
 */
export function sceneClassesIn(code: string): string[] {
  const found = new Set<string>();
  for (const [, name = '', bases = ''] of code.matchAll(CLASS)) {
    const isScene = bases.split(',').some((base) => /Scene$/.test(base.trim()) || found.has(base.trim()));
    if (isScene) found.add(name);
  }
  return [...found].sort();
}
