/**
 * Runs test files with tap, a given number of them at once: `node scripts/run-test-files.ts 2 FILE …`.
 *
 * Unlike the command `tap`, it loads nothing into the processes that it starts, nor into theirs: the module hooks that
 * tap needs for mocks and coverage double the time that a program takes to start.
 */
import t from 'tap';

/** Several times what the slowest file takes, so that one that hangs does not end the whole run. */
const TIMEOUT_S = 1_200;
/** tap adds its hooks to this variable. */
const NODE_OPTIONS = `NODE_OPTIONS=${process.env['NODE_OPTIONS'] ?? ''}`;

const [jobs, ...files] = process.argv.slice(2);
t.jobs = Number(jobs);
t.setTimeout(0);
for (const name of files) {
  void t.spawn('env', [NODE_OPTIONS, process.execPath, name], {
    name,
    buffered: t.jobs > 1,
    timeout: TIMEOUT_S * 1_000,
    env: { ...process.env, TAP_TIMEOUT: String(TIMEOUT_S) },
  });
}
