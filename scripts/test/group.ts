/**
 * Runs test files one after another in this process, each as a subtest with the name of the file: `node
 * scripts/test/group.ts FILE …`. Starting a process takes longer than most files.
 */
import { registerHooks } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Test } from 'tap';

/** By the URL of the file. */
export const subtests: Map<string, Test> = new Map();

const files = new Map(process.argv.splice(2).map((path) => [pathToFileURL(resolve(path)).href, path]));
// Names folders of tests after the arguments that are left.
const { default: t } = await import('tap');
const SUBTEST = new URL('subtest.ts', import.meta.url).href;

// In these files, `import t from 'tap'` imports the subtest of the file.
registerHooks({
  resolve(specifier, context, nextResolve) {
    const { parentURL = '' } = context;
    if (specifier !== 'tap' || !files.has(parentURL)) return nextResolve(specifier, context);
    return { url: `${SUBTEST}?file=${encodeURIComponent(parentURL)}`, shortCircuit: true };
  },
});

for (const [url, path] of files) {
  t.test(path, async (t) => {
    subtests.set(url, t);
    await import(url);
  });
}
