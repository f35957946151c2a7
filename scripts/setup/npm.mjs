import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { outsidePath } from './files.mjs';
import { execute } from './run.mjs';

/**
 * Runs npm, preferably the one that started this process, without the variables that `npm run` sets.
 *
 * @param {import('./run.mjs').Run} run
 */
export function npm(run, cwd, ...args) {
  const env = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (/^npm_(package_|lifecycle_|command$)/.test(name)) continue;
    if (
      /^npm_config_(local_prefix|(global_)?prefix|global|omit|include|ignore_scripts|dry_run)$/.test(name)
    ) {
      continue;
    }
    env[name] = value;
  }
  env.PATH = outsidePath(run.cwd);
  const ours = process.env.npm_execpath;
  return ours && basename(ours) === 'npm-cli.js' && existsSync(ours)
    ? execute(run, process.execPath, [ours, ...args], { cwd, env, name: 'npm' })
    : execute(run, 'npm', args, { cwd, env });
}
