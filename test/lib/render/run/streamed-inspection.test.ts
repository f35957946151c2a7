import t from 'tap';
import { DEFAULT_LIMITS, jobLimits } from '../../../../lib/model/limits.ts';
import type { ForkOutcome, Forks, Occupied } from '../../../../lib/render/run/forks.ts';
import { StreamedInspection } from '../../../../lib/render/run/streamed-inspection.ts';
import type { Zygote } from '../../../../lib/render/start/zygote.ts';

/** An inspector with a fork that ends when it is told to. */
class Inspector {
  forks = 0;
  occupied: Occupied | undefined;
  readonly #end = Promise.withResolvers<ForkOutcome>();
  readonly zygote = { killJob: () => this.end(undefined) } as unknown as Zygote;

  run: Forks['run'] = (current) => {
    this.forks += 1;
    this.occupied = current;
    if (current.endReason) this.end(undefined);
    return this.#end.promise;
  };

  end(verdict: ForkOutcome['verdict']): void {
    const ended = { type: 'ended', job: '1.out', exitCode: 0, signal: null } as const;
    const end = { ...ended, reason: null, memoryBytes: null, problem: null, shortage: null };
    this.#end.resolve({ end, verdict, place: '' });
  }

  die(error: Error): void {
    this.#end.reject(error);
  }
}

function inspectionOf(inspector: Inspector) {
  const refusals: string[] = [];
  const inspection = new StreamedInspection({
    forks: inspector,
    inspector: inspector.zygote,
    background: false,
    folder: '/nowhere',
    job: { kind: 'inspect', widthPx: 2, heightPx: 2, fps: 1, limits: jobLimits(DEFAULT_LIMITS) },
    onRefused: () => refusals.push('refused'),
  });
  return { inspection, refusals };
}

t.test('a successful inspection does not end its render', async (t) => {
  const inspector = new Inspector();
  const { inspection, refusals } = inspectionOf(inspector);
  inspection.begin();
  inspection.begin();
  t.equal(inspector.forks, 1);
  inspector.end({ type: 'inspected', frames: 1, seconds: 1 });
  t.match(await inspection.outcome(), { verdict: { type: 'inspected' } });
  t.notOk(await inspection.hasRefused());
  t.same(refusals, []);
  await inspection.close();
});

t.test('one that finds a defect before all was sent ends its render', async (t) => {
  const inspector = new Inspector();
  const { inspection, refusals } = inspectionOf(inspector);
  inspection.begin();
  inspector.end({ type: 'failed', error: 'a defect', failedBy: 'scene' });
  t.match(await inspection.outcome(), { verdict: { type: 'failed' } });
  t.ok(await inspection.hasRefused());
  t.same(refusals, ['refused']);
});

t.test('an inspector that dies ends the render', async (t) => {
  const inspector = new Inspector();
  const { inspection, refusals } = inspectionOf(inspector);
  inspection.begin();
  inspector.die(new Error('it died'));
  await t.rejects(inspection.outcome(), { message: 'it died' });
  t.ok(await inspection.hasRefused());
  t.same(refusals, ['refused']);
  await inspection.close();
});

t.test('one that is no longer needed is ended', async (t) => {
  const inspector = new Inspector();
  const { inspection, refusals } = inspectionOf(inspector);
  inspection.begin();
  await inspection.close();
  t.equal(inspector.occupied?.endReason, 'shutdown');
  t.notOk(await inspection.hasRefused());
  t.same(refusals, []);
});

t.test('one that was stopped before it began ends at once', async (t) => {
  const inspector = new Inspector();
  const { inspection } = inspectionOf(inspector);
  inspection.end('timeout');
  t.equal(inspector.forks, 0);
  await inspection.outcome();
  t.equal(inspector.occupied?.endReason, 'timeout');
});
