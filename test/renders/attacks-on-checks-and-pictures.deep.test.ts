// Runs attacks in checks, inspections and stills, which have the sandbox and the limits of renders.
import { join } from 'node:path';
import t from 'tap';
import { oneOf } from '../fixtures/depth.ts';

const ATTACKS = `become-root connect-to-loopback connect-to-the-admin-socket daemonise-a-grandchild disk-bomb endless-stream
  escape-by-proc files-with-the-names-of-artifacts find-an-earlier-source-in-memory flood-with-flushes fork-bomb
  forge-a-done-report forge-reports-of-the-zygote garbage-in-the-stream huge-part-in-the-stream inode-bomb
  keep-the-stream-open leave-files-behind memory-bomb memory-shared-without-a-file names-that-are-not-utf8
  outlive-the-first-process patch-manim-for-later-jobs read-host-paths read-other-jobs-scenes read-the-data-folder
  read-the-services-environment say-nothing-on-the-stream signal-other-processes tex-reads-a-file tex-runs-a-command
  video-larger-than-requested write-outside-of-the-job-folder write-to-the-encoders-folder`;

const test = join(import.meta.dirname, 'attacks.test.ts');
const CALLS = ['check', 'inspect', 'still'];
for (const [index, call] of CALLS.entries()) {
  const attacks = oneOf(CALLS.length, ATTACKS.split(/\s+/), index);
  const env = {
    ...process.env,
    SCENEPRESS_TEST_ATTACKS: process.env['ATTACKS'] ?? attacks.join(' '),
    SCENEPRESS_TEST_ATTACKS_BY: call,
  };
  await t.spawn(process.execPath, [...process.execArgv, test], { env }, `attacks by ${call}`);
}
