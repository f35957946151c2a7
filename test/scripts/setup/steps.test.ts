import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openRun, plainLines, SetupError, type Step, takeSteps } from '../../../scripts/setup/index.mjs';

/** Steps that note their begin and end, and end when the test says so. */
function setUp(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'scenepress-test-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const noted: string[] = [];
  const done = new Set<string>();
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const step = (title: string, after: Step[] = [], more: Partial<Step> = {}): Step => {
    const end = Promise.withResolvers<void>();
    ends.set(title, end);
    const take = async () => {
      noted.push(`${title} begins`);
      await end.promise;
      noted.push(`${title} ends`);
      done.add(title);
    };
    return { title, source: 'nowhere', after, isDone: () => done.has(title), take, ...more };
  };
  const end = async (title: string, error?: Error) => {
    if (error) ends.get(title)?.reject(error);
    else ends.get(title)?.resolve();
    await new Promise((resolve) => setImmediate(resolve));
  };
  const lines: string[] = [];
  const take = (...steps: Step[]) =>
    takeSteps(steps, openRun(folder, { cwd: folder, progress: plainLines((line) => lines.push(line)) }));
  return { folder, noted, done, step, end, take, lines };
}

t.test('steps are taken at the same time, each after those whose results it needs', async (t) => {
  const { noted, step, end, take } = setUp(t);
  const [one, two] = [step('one'), step('two')];
  const both = step('both', [one, two]);
  const taken = take(both, one, two);
  await end('one');
  t.same(noted, ['one begins', 'two begins', 'one ends']);
  await end('two');
  t.same(noted.slice(3), ['two ends', 'both begins']);
  await end('both');
  await taken;
});

t.test('what a step has made outdated is made again', async (t) => {
  const { noted, done, step, end, take } = setUp(t);
  done.add('sample');
  const tex = step('tex', [], {
    take: async () => {
      done.delete('sample');
      done.add('tex');
    },
  });
  const taken = take(tex, step('sample', [tex]));
  await end('sample');
  await taken;
  t.same(noted, ['sample begins', 'sample ends']);
});

t.test('after a failure, no other step begins; those that run go on to their end', async (t) => {
  const { folder, noted, step, end, take, lines } = setUp(t);
  const [one, two] = [step('one'), step('two')];
  const taken = take(one, two, step('after two', [two]));
  void taken.catch(() => {});
  await end('one', new Error('broken'));
  await end('two');
  await t.rejects(taken, { constructor: SetupError, message: /^one: broken\nFull log: \S+setup\.log$/ });
  t.same(noted, ['one begins', 'two begins', 'two ends']);
  t.match(lines, ['one …', 'two …', 'one: failed after 0 s', 'two: 0 s']);
  t.match(readFileSync(join(folder, 'setup.log'), 'utf8'), /=== one\n.*=== two\n/s);
});

t.test('nothing begins if a step is refused', async (t) => {
  const { noted, step, take } = setUp(t);
  await t.rejects(take(step('one'), step('two', [], { refusal: () => 'not here' })), { message: 'not here' });
  t.same(noted, []);
});
