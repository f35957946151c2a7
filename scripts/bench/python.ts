import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../..');
const MOST_OUTPUT_BYTES = 64 * 1024 * 1024;

/** The Python of the service. */
export const PYTHON: string = process.env['SCENEPRESS_PYTHON'] ?? join(ROOT, '.venv/bin/python');

/** The `manim` command beside it. */
export const MANIM: string = join(dirname(PYTHON), 'manim');

/** Runs a Python program of this folder, which may import the renderer, and parses the JSON that it prints. */
export async function runPython(program: string, args: string[], cwd?: string): Promise<unknown> {
  const { stdout } = await promisify(execFile)(PYTHON, [join(import.meta.dirname, program), ...args], {
    env: { ...process.env, PYTHONPATH: join(ROOT, 'renderer') },
    maxBuffer: MOST_OUTPUT_BYTES,
    ...(cwd !== undefined && { cwd }),
  });
  return JSON.parse(stdout);
}
