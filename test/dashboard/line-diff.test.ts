import t from 'tap';
import { lineDiff } from '../../appliance/dashboard/line-diff.ts';

/** As people read it: `-` removed, `+` added. */
function shown(before: string[], after: string[]): string {
  return lineDiff(before, after)
    .flatMap(({ kind, before: at, after: to, count }) =>
      kind === 'added'
        ? after.slice(to, to + count).map((line) => `+${line}`)
        : before.slice(at, at + count).map((line) => `${kind === 'removed' ? '-' : ' '}${line}`),
    )
    .join('\n');
}

const linesOf = (text: string) => text.split(' ');

t.test('what was changed, added and removed stands where it is', async (t) => {
  t.same(lineDiff([], []), []);
  t.same(lineDiff(['a'], ['a']), [{ kind: 'equal', before: 0, after: 0, count: 1 }]);
  t.equal(shown(linesOf('a b c'), linesOf('a x c')), ' a\n-b\n+x\n c');
  t.equal(shown(['a'], linesOf('a b')), ' a\n+b');
  t.equal(shown(linesOf('a b'), ['b']), '-a\n b');
  t.equal(shown([], ['a']), '+a');
  // Without lines that occur once.
  t.equal(shown(linesOf('x y x y q'), linesOf('p y x x y')), '-x\n+p\n y\n x\n+x\n y\n-q');
});

t.test('a function that was inserted is one run, not torn by equal ends', async (t) => {
  const part = (name: string) => [`def ${name}:`, '    begin', '    end', ''];
  const before = [...part('a'), ...part('c')];
  const after = [...part('a'), ...part('b'), ...part('c')];
  t.same(
    lineDiff(before, after).map(({ kind, count }) => `${kind} ${count}`),
    ['equal 4', 'added 4', 'equal 4'],
  );
});

t.test('runs make up both texts, in their order, whatever these are', async (t) => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  const wrong: string[][] = [];
  for (let round = 0; round < 300; round += 1) {
    const different = 1 + random(12);
    const text = () => Array.from({ length: random(30) }, () => String(random(different)));
    const [before, after] = [text(), text()];
    const of = (kinds: string[], from: string[], name: 'before' | 'after') =>
      lineDiff(before, after)
        .filter(({ kind }) => kinds.includes(kind))
        .flatMap((run) => from.slice(run[name], run[name] + run.count))
        .join();
    const isWhole =
      of(['equal', 'removed'], before, 'before') === before.join() &&
      of(['equal', 'added'], after, 'after') === after.join() &&
      of(['equal'], before, 'before') === of(['equal'], after, 'after');
    if (!isWhole) wrong.push(before, after);
  }
  t.same(wrong, []);
});

t.test('hostile texts take bounded time', async (t) => {
  const count = 100_000;
  const texts = {
    equal: [() => '', () => ''],
    different: [(at: number) => `a${at}`, (at: number) => `b${at}`],
    reversed: [(at: number) => `${at}`, (at: number) => `${count - at}`],
    alternating: [(at: number) => `${at % 2}`, (at: number) => `${(at >> 1) % 2}`],
    nested: [(at: number) => `${at % 300}`, (at: number) => `${(at * 7) % 300}`],
  };
  for (const [name, [one, other]] of Object.entries(texts)) {
    const [before, after] = [one, other].map((line) =>
      Array.from({ length: count }, (_, at) => line?.(at) ?? ''),
    );
    const begun = process.cpuUsage();
    lineDiff(before ?? [], after ?? []);
    const { user, system } = process.cpuUsage(begun);
    t.comment(`${name}: ${Math.round((user + system) / 1000)} ms`);
    t.ok((user + system) / 1000 < 1000, name);
  }
});
