// The references of the skill for coding agents, made of the Manim in .venv by scripts/skill/references.py.
// `node scripts/skill-references.ts` writes them; a test compares.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const FOLDER = 'appliance/skill/scenepress/references';

/** The generated files, by their paths in the repository. */
export function generated(): Record<string, string> {
  const output = execFileSync(join(ROOT, '.venv/bin/python'), ['scripts/skill/references.py'], {
    cwd: ROOT,
    env: { ...process.env, PYTHONPATH: join(ROOT, 'renderer') },
    encoding: 'utf8',
  });
  const pages = Object.entries(JSON.parse(output) as Record<string, string>);
  return Object.fromEntries(pages.map(([name, text]) => [`${FOLDER}/${name}`, text]));
}

if (import.meta.main) {
  for (const [path, text] of Object.entries(generated())) {
    mkdirSync(dirname(join(ROOT, path)), { recursive: true });
    writeFileSync(join(ROOT, path), text);
  }
}
