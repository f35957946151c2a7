import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Forks } from '../../../../lib/render/run/forks.ts';
import { DEFAULT_LIMITS } from '../../../../lib/render/run/limits.ts';
import type { Zygote } from '../../../../lib/render/start/zygote.ts';
import { TexFill } from '../../../../lib/render/tex/tex-fill.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { testFolder } from '../../../fixtures/test-folder.ts';

/** A zygote with a fork that ends only when it is killed, as one that compiles many formulas. */
class SlowRenderer {
  forks = 0;
  #kill: ((signal: string) => void) | undefined;
  #markForked: () => void = () => {};
  readonly forked = new Promise<void>((resolve) => {
    this.#markForked = resolve;
  });

  readonly zygote = { killJob: () => this.#kill?.('SIGKILL') } as unknown as Zygote;

  async makeFolder(folder: string): Promise<void> {
    await mkdir(folder, { recursive: true });
  }

  run: Forks['run'] = async (current, folder) => {
    await this.makeFolder(folder);
    this.forks += 1;
    this.#markForked();
    const signal = await new Promise<string>((resolve) => {
      this.#kill = resolve;
      if (current.endReason) resolve('SIGKILL');
    });
    const ended = {
      type: 'ended',
      job: 'tex',
      exitCode: null,
      reason: null,
      memoryBytes: null,
      problem: null,
      shortage: null,
    } as const;
    return { end: { ...ended, signal }, verdict: undefined, place: '' };
  };
}

function fillOf(t: Test, renderer: SlowRenderer, clock = new FakeClock('2026-11-21T10:00:00Z')) {
  const folder = testFolder(t);
  const fill = new TexFill({
    forks: renderer,
    limits: DEFAULT_LIMITS,
    clock,
    folder: join(folder, 'tex'),
    index: 0,
    onPack: () => t.fail('an ended fill keeps nothing'),
    onLog: (line) => t.fail(line),
  });
  const lease = { path: join(folder, 'pack'), removals: 0 };
  return { fill, clock, folder, begin: () => fill.begin(renderer.zygote, lease, ['a document']) };
}

t.test('a task that comes in the same tick does not wait for the formulas', async (t) => {
  const renderer = new SlowRenderer();
  const { fill, folder, begin } = fillOf(t, renderer);
  await writeFile(join(folder, 'pack'), 'formulas');
  begin();
  await fill.end();
  t.equal(renderer.forks, 0);
  t.notOk(existsSync(join(folder, 'tex')));
});

t.test('a task that comes while formulas are compiled ends the fork', async (t) => {
  const renderer = new SlowRenderer();
  const { fill, folder, begin } = fillOf(t, renderer);
  begin();
  await renderer.forked;
  await fill.end();
  t.equal(renderer.forks, 1);
  t.notOk(existsSync(join(folder, 'tex')));
});
