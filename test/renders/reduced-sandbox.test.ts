// Attacks and scenes on the reduced level: as a user who may make no namespaces, so that bubblewrap fails too.
import { spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';

const USER = 57_999;
const ATTACKS = `change-modes-and-times-of-others climb-out-by-proc connect-to-an-abstract-socket connect-to-loopback
  connect-to-the-admin-socket daemonise-a-grandchild disk-bomb-behind-an-ended-thread end-by-a-signal-without-a-name
  find-an-earlier-source-in-memory forge-a-done-report forge-reports-of-the-zygote fork-until-refused
  listen-for-connections make-a-user-namespace memory-bomb-behind-an-ended-thread memory-in-pipes
  memory-in-record-locks memory-in-tmpfs memory-in-watches names-that-are-no-text open-devices
  outlive-the-keeper-as-its-child patch-manim-for-later-jobs read-other-jobs-scenes read-system-secrets
  read-the-data-folder read-the-memory-of-others signal-everyone symlink-as-video tex-reads-a-file tex-runs-a-command
  trace-a-process write-outside-of-the-job-folder`;
// A namespace of its own, in which no further ones may be made, and none of the rights that it comes with.
const WITHOUT_NAMESPACES = [
  ...['unshare', '--user', '--map-current-user', '--keep-caps'],
  ...['sh', '-c', 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"', 'sh'],
  ...['setpriv', '--ambient-caps=-all', '--inh-caps=-all'],
];
const asUser =
  process.getuid?.() === 0 ? ['setpriv', `--reuid=${USER}`, `--regid=${USER}`, '--clear-groups'] : [];

const folder = mkdtempSync(join(tmpdir(), 'scenepress-reduced-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
if (asUser.length > 0) chownSync(folder, USER, USER);

const [command = '', ...args] = [...asUser, ...WITHOUT_NAMESPACES];
const test = join(import.meta.dirname, 'attacks.test.ts');
const possible = spawnSync(command, [...args, 'test', '-r', test], { encoding: 'utf8', cwd: folder });
if (possible.status !== 0) {
  t.pass('attacks', {
    skip: `such a user can't be made here, or can't read this: ${possible.stderr.trim()}`,
  });
} else {
  // That the service starts shows that text, TeX and 3D are rendered: it tries them on this level.
  await t.spawn(
    command,
    [...args, process.execPath, test],
    {
      cwd: folder,
      env: {
        ...process.env,
        HOME: folder,
        TAP_CWD: folder,
        SCENEPRESS_TEST_LEVEL: 'reduced',
        SCENEPRESS_TEST_ATTACKS: ATTACKS.split(/\s+/).join(' '),
      },
    },
    'attacks on the reduced sandbox',
  );
}
