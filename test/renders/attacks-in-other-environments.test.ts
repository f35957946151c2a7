// Runs attacks as other users and on the reduced level. `ATTACKS=all` runs all instead of a selection;
// `PLACE='root, reduced'` runs a single environment.
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';

interface Place {
  level: 'full' | 'reduced';
  /** The launcher of commands in this environment. */
  command: string[];
  attacks: string;
  /** Other tests to run in this environment. */
  tests?: string[];
}

const USER = 57_999;
// Attacks that only one layer stops, or that on the full level only the end of a process-id namespace stops.
const SELECTED = `become-root change-modes-and-times-of-service-files escape-by-proc connect-to-the-admin-socket fork-bomb
  fork-bomb-of-many-groups look-for-files-left-behind memory-bomb-of-many-processes raise-its-own-priority
  page-tables read-host-paths read-other-jobs-scenes read-the-data-folder read-the-host-name read-memory-of-other-processes
  signal-other-processes survive-the-oom-killer trailing-bytes-after-the-video write-outside-of-the-job-folder`;
const REDUCED = `${SELECTED} captions-with-a-script connect-to-an-abstract-socket connect-to-loopback
  daemonise-a-grandchild data-between-frames data-between-samples data-hidden-in-an-mp4 data-in-a-hidden-frame
  data-in-a-track-name data-in-encoder-messages disk-bomb disk-bomb-behind-an-ended-thread
  disk-bomb-of-mapped-removed-files disk-bomb-of-removed-files end-by-an-unnamed-signal
  find-an-earlier-source-in-memory flood-with-flushes folder-as-video forge-a-done-report forge-reports-of-the-zygote
  fork-until-refused garbage-as-video hardlink-as-video inode-bomb leave-files-behind listen-for-connections
  make-a-user-namespace many-long-mappings memory-bomb-behind-an-ended-thread memory-in-pipes memory-in-record-locks
  memory-in-tmpfs memory-in-watches mp4-made-to-break-a-decoder names-that-are-not-utf8 notes-and-tags-in-captions
  open-devices other-codec-in-an-mp4 outlive-the-first-process patch-manim-for-later-jobs playlist-as-video
  read-system-secrets read-the-services-environment rename-behind-the-disk-count see-other-processes sparse-video
  symlink-as-captions symlink-as-video tex-reads-a-file tex-runs-a-command trace-a-process video-larger-than-requested`;

const isRoot = process.getuid?.() === 0;
const folder = mkdtempSync(join(tmpdir(), 'scenepress-attacks-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
if (isRoot) chownSync(folder, USER, USER);
chmodSync(folder, 0o711); // Root's renders run as other users, which must be able to enter.

const asUser = isRoot ? ['setpriv', `--reuid=${USER}`, `--regid=${USER}`, '--clear-groups'] : [];
// A user namespace without capabilities, in which no further namespaces can be created.
const withoutNamespaces = [
  ...['unshare', '--user', '--map-current-user', '--keep-caps'],
  ...['sh', '-c', 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"', 'sh'],
  ...['setpriv', '--ambient-caps=-all', '--inh-caps=-all'],
];
// User namespaces cannot be created in a chroot, and bubblewrap is not in PATH.
const mirror = join(folder, 'root');
mkdirSync(mirror);
const behindAnotherRoot = [
  ...['unshare', '--mount', 'sh', '-c', 'mount --rbind / "$0" && exec chroot "$0" "$@"', mirror],
  ...['env', '-C', folder, 'PATH=/nowhere'],
];
const places: Record<string, Place> = {
  ...(isRoot && { 'user, full': { level: 'full', command: asUser, attacks: SELECTED } }),
  'user, reduced': {
    level: 'reduced',
    command: [...asUser, ...withoutNamespaces],
    attacks: REDUCED,
    tests: ['lib/killed-service.test.ts', 'lib/dying-renderers.test.ts', 'lib/many-workers.test.ts'],
  },
  ...(isRoot && {
    'root, reduced': {
      level: 'reduced',
      command: behindAnotherRoot,
      attacks: SELECTED,
      tests: ['lib/killed-service.test.ts'],
    },
  }),
};

const test = join(import.meta.dirname, 'attacks.test.ts');
for (const [name, { level, command, attacks, tests = [] }] of Object.entries(places)) {
  if ((process.env['PLACE'] ?? name) !== name) continue;
  const [program = '', ...args] = [...command, process.execPath];
  const possible = spawnSync(program, [...args, '--check', test], { encoding: 'utf8', cwd: folder });
  if (possible.status !== 0) {
    t.pass(name, { skip: `this environment is not available: ${possible.stderr.trim()}` });
    continue;
  }
  const env = {
    ...process.env,
    HOME: folder,
    TAP_CWD: folder,
    _TAPJS_PROCESSINFO_CWD_: folder,
    SCENEPRESS_TEST_LEVEL: level,
    ...(process.env['ATTACKS'] !== 'all' && { SCENEPRESS_TEST_ATTACKS: attacks.split(/\s+/).join(' ') }),
  };
  // On the reduced level a start renders text, TeX and 3D, so a successful start proves that these work.
  await t.spawn(program, [...args, test], { cwd: folder, env }, `attacks as ${name}`);
  for (const file of tests) {
    const path = join(import.meta.dirname, file);
    await t.spawn(program, [...args, path], { cwd: folder, env }, `${file} as ${name}`);
  }
}
