import t from 'tap';
import { DEFAULT_LIMITS, jobLimits } from '../../../../lib/model/limits.ts';
import type { JobReport } from '../../../../lib/model/renderer-messages.ts';
import { Encoding } from '../../../../lib/render/run/encoding.ts';
import type { ForkOutcome, Forks, Occupied } from '../../../../lib/render/run/forks.ts';
import type { Zygote } from '../../../../lib/render/start/zygote.ts';
import { failedReport } from '../../../fixtures/failed-report.ts';

/** An encoder with a fork that connects and ends when it is told to. */
class Encoder {
  occupied: Occupied | undefined;
  frames: string | undefined;
  readonly told: string[] = [];
  connect = (): void => {};
  report: (report: JobReport) => void = () => {};
  readonly #end = Promise.withResolvers<ForkOutcome>();
  readonly zygote = { killJob: () => this.end({ signal: 'SIGKILL' }) } as unknown as Zygote;

  seen: Forks['seen'] = (folder) => `/seen${folder}`;

  run: Forks['run'] = (current, _folder, _job, onReport, { frames, onConnected } = {}) => {
    this.occupied = current;
    this.frames = frames;
    this.report = onReport;
    this.connect = () => onConnected?.(({ type }) => this.told.push(type));
    return this.#end.promise;
  };

  end({ verdict, signal = null }: { verdict?: ForkOutcome['verdict']; signal?: string | null }): void {
    const exitCode = signal === null ? 0 : null;
    const ended = { type: 'ended', job: '1.out', exitCode, signal } as const;
    const end = { ...ended, reason: null, memoryBytes: null, problem: null, shortage: null };
    this.#end.resolve({ end, verdict, place: { text: '', line: null, play: null } });
  }

  die(error: Error): void {
    this.#end.reject(error);
  }
}

function encodingOf(encoder: Encoder) {
  const heard: string[] = [];
  const encoding = new Encoding({
    forks: encoder,
    encoder: encoder.zygote,
    background: false,
    folder: '/folder/1.out',
    job: {
      kind: 'encode',
      className: 'A',
      widthPx: 2,
      heightPx: 2,
      fps: 1,
      previewIntervalMs: 0,
      local: null,
      makes: 'video',
      formats: [],
      pictures: [],
      isOther: false,
      isIndexed: false,
      limits: jobLimits(DEFAULT_LIMITS),
    },
    onPreview: ({ type }) => heard.push(type),
    onFailed: () => heard.push('failed'),
  });
  return { encoding, heard };
}

function begun(encoder: Encoder) {
  const { encoding, heard } = encodingOf(encoder);
  encoding.begin();
  encoder.connect();
  return { encoding, heard };
}

t.test('a render can connect when the encoder listens, and its end is told', async (t) => {
  const encoder = new Encoder();
  const { encoding, heard } = begun(encoder);
  t.equal(encoding.frames, '/seen/folder/1.out/frames');
  t.equal(encoder.frames, encoding.frames);
  t.same(encoder.told, []);
  const outcome = encoding.outcome();
  t.same(encoder.told, ['renderEnded']);
  encoder.end({ verdict: { type: 'encoded', frames: 1, seconds: 1, copiedFrames: 0 } });
  t.match(await outcome, { verdict: { type: 'encoded' } });
  t.same(heard, []);
  await encoding.close();
});

t.test('only previews are heard', async (t) => {
  const encoder = new Encoder();
  const { encoding, heard } = begun(encoder);
  encoder.report({ type: 'preview', jpeg: 'x' });
  encoder.report({ type: 'stage', stage: 'finishing' });
  encoder.report({ type: 'output', text: 'x' });
  t.same(heard, ['preview']);
  await encoding.close();
});

for (const [how, end] of [
  ['is refused', { verdict: failedReport('a defect') }],
  ['is killed', { signal: 'SIGKILL' }],
] as const) {
  t.test(`an encoding that ${how} ends its render`, async (t) => {
    const encoder = new Encoder();
    const { encoding, heard } = begun(encoder);
    encoder.end(end);
    await new Promise(setImmediate);
    t.same(heard, ['failed']);
    await encoding.outcome();
    t.same(heard, ['failed']);
  });
}

t.test('an encoder that dies ends the render', async (t) => {
  const encoder = new Encoder();
  const { encoding, heard } = begun(encoder);
  encoder.die(new Error('it died'));
  await new Promise(setImmediate);
  t.same(heard, ['failed']);
  t.match(encoding.error, { message: 'it died' });
  await t.rejects(encoding.outcome(), { message: 'it died' });
  await encoding.close();
});

t.test('an encoding that ends because its render breaks off does not end it', async (t) => {
  const encoder = new Encoder();
  const { encoding, heard } = begun(encoder);
  encoder.end({});
  await new Promise(setImmediate);
  t.same(heard, []);
  t.match(await encoding.outcome(), { verdict: undefined });
});

t.test('the end of a render that fails before the encoder has connected is told later', async (t) => {
  const encoder = new Encoder();
  const { encoding } = encodingOf(encoder);
  encoding.begin();
  const outcome = encoding.outcome();
  t.same(encoder.told, []);
  encoder.connect();
  t.same(encoder.told, ['renderEnded']);
  encoder.end({});
  await outcome;
});

t.test('an encoding that is no longer needed is ended', async (t) => {
  const encoder = new Encoder();
  const { encoding, heard } = begun(encoder);
  await encoding.close();
  t.equal(encoder.occupied?.endReason, 'shutdown');
  t.same(heard, []);
});
