import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { arrange, ownGroup } from '../../../../lib/render/sandbox/cgroup.ts';
import { makeOwnGroup, removeOwnGroup } from '../../../../lib/render/sandbox/own-cgroup.ts';
import { systemClock } from '../../../../lib/time/clock.ts';
import { testFolder } from '../../../fixtures/test-folder.ts';

const MOUNTED = `22 1 0:20 / /proc rw shared:5 - proc proc rw
29 23 0:25 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate`;
const UNIT = '/system.slice/scenepress.service';

t.test('the service’s own group is found where it is mounted', async (t) => {
  const at = (cgroup: string, mountinfo: string) => ownGroup(`${cgroup}\n`, mountinfo);
  const folder = `/sys/fs/cgroup${UNIT}`;
  const top = '/sys/fs/cgroup';
  t.same(at(`0::${UNIT}`, MOUNTED), { folder, top });
  t.same(at(`0::${UNIT}/scenepress`, MOUNTED), { folder, top }, 'already moved');
  t.same(at('0::/', MOUNTED), { folder: top, top });
  const odd = `30 1 0:25 ${UNIT} /my\\040groups rw - cgroup2 none rw`;
  t.same(
    at(`0::${UNIT}`, odd),
    { folder: '/my groups', top: '/my groups' },
    'only a part of the tree is mounted',
  );
  t.same(at(`0::${UNIT}/a b`, odd), { folder: '/my groups/a b', top: '/my groups' });
  t.match(at('0::/user.slice', odd), { problem: /not mounted/ }, 'another part of the tree is mounted');
});

t.test('the reason is reported if there is no group', async (t) => {
  t.match(ownGroup('3:memory:/x\n2:pids:/\n', MOUNTED), { problem: /no control groups of version 2/ });
  t.match(ownGroup('0::/\n', '29 23 0:25 / /sys/fs/cgroup rw - cgroup cgroup rw,memory'), {
    problem: /not mounted/,
  });
});

/** A folder that looks like a group without processes. */
function group(t: Test, { controllers = 'cpu memory pids', procs = '' } = {}): string {
  return testFolder(t, {
    'cgroup.controllers': `${controllers}\n`,
    'cgroup.subtree_control': '',
    'cgroup.events': 'populated 1\n',
    'cgroup.procs': procs,
  });
}
const delegated = async () => true;

t.test('a delegated group is prepared, and leftovers in it are removed', async (t) => {
  const folder = group(t);
  mkdirSync(join(folder, 'render-999999999-0-1'));
  mkdirSync(join(folder, `render-${process.pid}-0-1`));
  t.equal(await arrange(folder, delegated), undefined);
  t.equal(readFileSync(join(folder, 'cgroup.subtree_control'), 'utf8'), '+memory +pids');
  t.same(
    readdirSync(folder).filter((name) => !name.startsWith('cgroup.')),
    [`render-${process.pid}-0-1`, 'scenepress'],
  );
});

t.test('a prepared group is not changed', async (t) => {
  const folder = group(t, { procs: '1\n' });
  writeFileSync(join(folder, 'cgroup.subtree_control'), 'memory pids\n');
  t.equal(await arrange(folder, delegated), undefined);
  t.notOk(existsSync(join(folder, 'scenepress')), 'nothing was moved');
});

t.test('a group without delegation or controllers is not changed', async (t) => {
  const folder = group(t, { procs: '1\n' });
  t.match(await arrange(folder, async () => false), /lacks Delegate=yes/);
  t.match(await arrange(group(t, { controllers: 'cpu pids' }), delegated), /no controller for memory$/);
  t.match(await arrange(group(t, { controllers: '' }), delegated), /no controller for memory and pids$/);
  t.notOk(existsSync(join(folder, 'scenepress')));
});

t.test('root creates a group at the top and removes those of killed services', async (t) => {
  const top = group(t);
  writeFileSync(join(top, 'cgroup.subtree_control'), 'cpu memory pids\n');
  const namespace = readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
  for (const name of [`scenepress-${namespace}-999999999-1/render-999999999-0-1`, 'scenepress-1-999999999-1'])
    mkdirSync(join(top, name), { recursive: true });
  const own = makeOwnGroup(top, ['memory', 'pids']);
  t.equal(own, join(top, `scenepress-${namespace}-${process.pid}-1`));
  t.equal(readFileSync(join(own, 'cgroup.subtree_control'), 'utf8'), '+memory +pids');
  t.equal(readFileSync(join(top, 'cgroup.subtree_control'), 'utf8'), 'cpu memory pids\n', 'unchanged');
  t.notOk(existsSync(join(top, `scenepress-${namespace}-999999999-1`)));
  t.ok(existsSync(join(top, 'scenepress-1-999999999-1')), 'ids of another namespace mean nothing here');
  t.not(makeOwnGroup(top, ['memory', 'pids']), own, 'each service has one');
  rmSync(join(own, 'cgroup.subtree_control')); // The kernel removes it together with the group.
  await removeOwnGroup(own, systemClock);
  t.notOk(existsSync(own));
  await removeOwnGroup(top, systemClock);
  t.ok(existsSync(top), 'a group that was not created here is kept');
});

t.test('memory and pids are enabled at the top if necessary', async (t) => {
  const top = group(t);
  makeOwnGroup(top, ['memory', 'pids']);
  t.equal(readFileSync(join(top, 'cgroup.subtree_control'), 'utf8'), '+memory +pids');
});
