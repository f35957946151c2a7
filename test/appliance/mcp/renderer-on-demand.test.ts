import t from 'tap';
import { RendererOnDemand } from '../../../appliance/cli/renderer-on-demand.ts';
import type { LocalRenderer } from '../../../lib/index.ts';

const LONG_MS = 60_000;

/** Renderers that can only start, and what became of them. */
function renderers({ fails = false }: { fails?: boolean } = {}) {
  const log: string[] = [];
  const ended = Promise.withResolvers<void>();
  const renderer = {
    async start() {
      log.push('start');
      if (fails) throw new Error('it cannot start');
    },
  };
  const withRenderer = async (use: (renderer: LocalRenderer) => Promise<void>) => {
    await use(renderer as LocalRenderer);
    log.push('end');
    ended.resolve();
  };
  return { log, withRenderer, ended: ended.promise };
}

t.test('a renderer is started once, when it is needed', async (t) => {
  const { log, withRenderer } = renderers();
  const onDemand = new RendererOnDemand(withRenderer, { idleMs: LONG_MS });
  await onDemand.stop();
  t.same(log, [], 'nothing was needed');
  t.same(await Promise.all([onDemand.use(async () => 1), onDemand.use(async () => 2)]), [1, 2]);
  t.same(log, ['start']);
  await onDemand.stop();
  t.same(log, ['start', 'end']);
});

t.test('a renderer ends when it is not used, and another is started', async (t) => {
  const { log, withRenderer, ended } = renderers();
  const onDemand = new RendererOnDemand(withRenderer, { idleMs: 1 });
  const other = Promise.withResolvers<void>();
  const using = onDemand.use(() => other.promise);
  await onDemand.use(async () => {});
  t.same(log, ['start'], 'it has another user');
  other.resolve();
  await using;
  await ended;
  t.same(log, ['start', 'end']);
  await onDemand.use(async () => t.same(log, ['start', 'end', 'start']));
  await onDemand.stop();
});

t.test('a renderer that cannot start is tried again', async (t) => {
  const { log, withRenderer } = renderers({ fails: true });
  const onDemand = new RendererOnDemand(withRenderer, { idleMs: LONG_MS });
  for (const starts of [1, 2]) {
    await t.rejects(
      onDemand.use(async () => {}),
      { message: 'it cannot start' },
    );
    t.equal(log.length, starts);
  }
  await onDemand.stop();
});
