// Runs attacks as other users and on the reduced level. `ATTACKS=all` runs all instead of a selection;
// `PLACE='root, reduced'` runs a single environment.
import { join } from 'node:path';
import t from 'tap';
import { oneOf } from '../fixtures/depth.ts';
import { environments } from '../fixtures/environments.ts';

// Attacks that only one layer stops, or that on the full level only the end of a process-id namespace stops.
const SELECTED = `become-root change-modes-and-times-of-service-files escape-by-proc connect-to-the-admin-socket fork-bomb
  fork-bomb-of-many-groups look-for-files-left-behind memory-bomb-of-many-processes raise-its-own-priority
  page-tables read-host-paths read-other-jobs-scenes read-the-data-folder read-the-host-name
  read-memory-of-other-processes signal-other-processes survive-the-oom-killer write-outside-of-the-job-folder
  write-to-the-encoders-folder`;
const REDUCED = `${SELECTED} connect-to-an-abstract-socket connect-to-loopback daemonise-a-grandchild disk-bomb
  disk-bomb-behind-an-ended-thread disk-bomb-of-mapped-removed-files disk-bomb-of-removed-files
  end-by-an-unnamed-signal endless-stream files-with-the-names-of-artifacts find-an-earlier-source-in-memory
  flood-with-flushes forge-a-done-report forge-reports-of-the-zygote fork-until-refused garbage-in-the-stream
  inode-bomb keep-the-stream-open leave-files-behind listen-for-connections make-a-user-namespace
  make-other-sockets many-long-mappings memory-bomb-behind-an-ended-thread memory-in-pipes
  memory-in-record-locks memory-in-sockets memory-in-tmpfs memory-in-watches names-that-are-not-utf8
  open-devices outlive-the-first-process patch-manim-for-later-jobs read-system-secrets
  read-the-services-environment rename-behind-the-disk-count say-nothing-on-the-stream see-other-processes
  tex-reads-a-file tex-runs-a-command trace-a-process video-larger-than-requested`;

const ATTACKS: Record<string, readonly string[]> = {
  'user, full': oneOf(4, SELECTED.split(/\s+/)),
  'user, reduced': oneOf(4, REDUCED.split(/\s+/)),
  'root, reduced': oneOf(2, SELECTED.split(/\s+/)),
};

const test = join(import.meta.dirname, 'attacks.test.ts');
for (const { name, run } of environments(t)) {
  const attacks = (ATTACKS[name] ?? []).join(' ');
  // On the reduced level a start renders text, TeX and 3D, so a successful start proves that these work.
  await run(test, 'attacks', process.env['ATTACKS'] === 'all' ? {} : { SCENEPRESS_TEST_ATTACKS: attacks });
}
