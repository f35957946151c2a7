import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Config } from '../../appliance/config/config.ts';
import { OPTIONS, variableOf } from '../../appliance/config/options.ts';

const FOLDER = join(import.meta.dirname, '../../appliance/container');
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8');

t.test('variables in the files for containers are options', async (t) => {
  const known = new Set((Object.keys(OPTIONS) as (keyof Config)[]).map(variableOf));
  for (const file of readdirSync(FOLDER)) {
    for (const [name] of read(file).matchAll(/SCENEPRESS_[A-Z_]+/g))
      t.ok(known.has(name), `${file}: ${name}`);
  }
});

t.test('the seccomp profile permits what the sandbox is made of', async (t) => {
  const { defaultAction, syscalls } = JSON.parse(read('seccomp.json')) as {
    defaultAction: string;
    syscalls: { names: string[]; action: string }[];
  };
  t.equal(defaultAction, 'SCMP_ACT_ALLOW');
  const denied = new Set(syscalls.flatMap(({ names }) => names));
  const needed =
    'clone clone3 unshare setns mount umount2 pivot_root open_tree move_mount mount_setattr sethostname seccomp prctl ' +
    'landlock_create_ruleset landlock_add_rule landlock_restrict_self pidfd_open chroot';
  for (const name of needed.split(' ')) t.notOk(denied.has(name), name);
  for (const name of ['bpf', 'init_module', 'io_uring_setup', 'kexec_load', 'keyctl', 'userfaultfd'])
    t.ok(denied.has(name), name);
});
