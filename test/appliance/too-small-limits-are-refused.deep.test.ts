import { join } from 'node:path';
import t from 'tap';
import { shortages } from '../../appliance/place/process-limits.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { scenepress } from './command.ts';

const limited = (flag: string, value: number) => ['bash', '-c', `ulimit ${flag} ${value}; exec "$@"`, 'bash'];
const COMMANDS = [
  ['serve', '--workers', '4'],
  ['worker', '--workers', '4', '--database-url', 'postgres://nobody@127.0.0.1:1/none'],
];

for (const [flag, value, message] of [
  [
    '-n',
    100,
    /limit of open files is too small: 100\. With 4 workers.* needs 1[23]8\..*ulimit -n.*LimitNOFILE=.* 1[23]8,/,
  ],
  [
    '-u',
    20,
    /limit of processes .* too small: 20.*With 4 workers.* needs 112\..*ulimit -u.*LimitNPROC=.* \d{3,},/,
  ],
  [
    '-v',
    8_000_000,
    /limit of address space .* 7\.6 GiB\. With 4 workers.* needs 56\.0 GiB\..*ulimit -v.* 58720256,/,
  ],
] as const) {
  t.test(
    `ulimit ${flag} ${value}: the start is refused and says what is needed, and so does the doctor`,
    async (t) => {
      const dataDir = join(await temporaryFolder(t), 'data');
      for (const command of COMMANDS) {
        const { code, stderr } = await scenepress([...command, '--data-dir', dataDir], {
          launcher: limited(flag, value),
        });
        t.equal(code, 1, stderr);
        t.match(stderr, message);
        t.equal(stderr.trim().split('\n').length, 1);
      }
      const args = ['doctor', '--json', '--workers', '4', '--data-dir', dataDir, '--port', '0'];
      const { stdout } = await scenepress(args, { launcher: limited(flag, value) });
      const { findings } = JSON.parse(stdout) as {
        findings: { check: string; message: string; remedy: string }[];
      };
      const { message: found, remedy } = findings.find(({ check }) => check === 'Process') ?? {};
      t.match(`${found} ${remedy}`, message);
    },
  );
}

t.test('the needs follow the options', async (t) => {
  const config = { workers: 2, roles: ['worker'], databaseUrl: undefined, databaseConnections: 10 } as const;
  const lacks = (given: object, limit: number) =>
    shortages(
      { ...config, roles: ['worker'], ...given },
      { limitOf: (name) => (/files/.test(name) ? limit : Infinity) },
    );
  t.same(lacks({}, 96), []);
  t.equal(lacks({}, 95).length, 1);
  t.equal(lacks({ workers: 3 }, 96).length, 1);
  t.same(lacks({ workers: 30, roles: ['api'] }, 96), [], 'without the role, there are no workers');
  t.match(lacks({ databaseUrl: 'postgres://x' }, 96), [
    { message: /2 workers and 10 connections to the database/ },
  ]);
});
