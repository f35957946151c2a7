// Attacks as other users, and on the reduced level. `ATTACKS=all` takes all of them instead of the most telling ones,
// `PLACE='root, reduced'` one place alone.
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';

interface Place {
  level: 'full' | 'reduced';
  /** What a command is started with to be there. */
  command: string[];
  attacks: string;
  /** What else holds there. */
  tests?: string[];
}

const USER = 57_999;
// What only one layer stops, and what the end of a process-id namespace stops on the full level.
const TELLING = `become-root change-modes-and-times-of-others climb-out-by-proc connect-to-the-admin-socket fork-bomb
  fork-bomb-of-many-groups look-for-files-left-behind memory-bomb-of-many-processes raise-its-own-priority
  page-tables read-host-paths read-other-jobs-scenes read-the-data-folder read-the-host-name read-the-memory-of-others
  signal-everyone stay-when-memory-is-short trailing-bytes-after-the-video write-outside-of-the-job-folder`;
const REDUCED = `${TELLING} captions-that-are-a-program connect-to-an-abstract-socket connect-to-loopback
  daemonise-a-grandchild data-between-the-pictures data-between-the-samples data-hidden-in-an-mp4 disk-bomb
  disk-bomb-behind-an-ended-thread disk-bomb-of-mapped-removed-files disk-bomb-of-removed-files
  end-by-a-signal-without-a-name find-an-earlier-source-in-memory
  flood-with-flushes forge-a-done-report forge-reports-of-the-zygote fork-until-refused leave-files-behind
  inode-bomb listen-for-connections make-a-user-namespace many-long-mappings memory-bomb-behind-an-ended-thread memory-in-pipes
  memory-in-record-locks memory-in-tmpfs memory-in-watches names-that-are-no-text open-devices
  other-codec-in-an-mp4 outlive-the-keeper-as-its-child patch-manim-for-later-jobs rename-behind-the-walk
  read-system-secrets read-the-services-environment see-other-processes sparse-video symlink-as-video tex-reads-a-file
  tex-runs-a-command trace-a-process`;

const isRoot = process.getuid?.() === 0;
const folder = mkdtempSync(join(tmpdir(), 'scenepress-attacks-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
if (isRoot) chownSync(folder, USER, USER);
chmodSync(folder, 0o711); // Root's renders are other users', and must get through.

const asUser = isRoot ? ['setpriv', `--reuid=${USER}`, `--regid=${USER}`, '--clear-groups'] : [];
// A namespace of its own, in which no further ones may be made, and none of the rights that it comes with.
const withoutNamespaces = [
  ...['unshare', '--user', '--map-current-user', '--keep-caps'],
  ...['sh', '-c', 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"', 'sh'],
  ...['setpriv', '--ambient-caps=-all', '--inh-caps=-all'],
];
// Behind a changed root nobody may make user namespaces; and bubblewrap isn't found.
const mirror = join(folder, 'root');
mkdirSync(mirror);
const behindAnotherRoot = [
  ...['unshare', '--mount', 'sh', '-c', 'mount --rbind / "$0" && exec chroot "$0" "$@"', mirror],
  ...['env', '-C', folder, 'PATH=/nowhere'],
];
const places: Record<string, Place> = {
  ...(isRoot && { 'user, full': { level: 'full', command: asUser, attacks: TELLING } }),
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
      attacks: TELLING,
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
    t.pass(name, { skip: `this can't be had here: ${possible.stderr.trim()}` });
    continue;
  }
  const env = {
    ...process.env,
    HOME: folder,
    TAP_CWD: folder,
    SCENEPRESS_TEST_LEVEL: level,
    ...(process.env['ATTACKS'] !== 'all' && { SCENEPRESS_TEST_ATTACKS: attacks.split(/\s+/).join(' ') }),
  };
  // That the service starts shows that text, TeX and 3D are rendered: it tries them on the reduced level.
  await t.spawn(program, [...args, test], { cwd: folder, env }, `attacks as ${name}`);
  for (const file of tests) {
    const path = join(import.meta.dirname, file);
    await t.spawn(program, [...args, path], { cwd: folder, env }, `${file} as ${name}`);
  }
}
