import t from 'tap';
import type { RenderMessage } from '../../../../lib/model/render-task.ts';
import { ProgressSender } from '../../../../lib/render/run/progress-sender.ts';

function listenTo(previewIntervalMs = 0) {
  const sent: RenderMessage[] = [];
  const clock = { nowMs: 0 };
  const sender = new ProgressSender({
    send: (message) => sent.push(structuredClone(message)),
    previewIntervalMs,
    nowMs: () => clock.nowMs,
  });
  return { sender, sent, clock };
}

t.test('progress is throttled, and the latest values are sent later', async (t) => {
  const { sender, sent, clock } = listenTo();
  for (let frames = 0; frames < 10_000; frames++) {
    clock.nowMs += 0.1;
    sender.hear({ type: 'progress', frames, seconds: 1 });
  }
  t.ok(sent.length >= 18 && sent.length <= 21, `${sent.length} in a second`);
  sender.hear({ type: 'stage', stage: 'finishing' });
  t.match(sent.at(-1), { type: 'progress', stage: 'finishing', frames: 9999 });
});

t.test('each stage is sent once and immediately, and never goes back', async (t) => {
  const { sender, sent } = listenTo();
  for (let n = 0; n < 100; n++) {
    for (const stage of ['loading', 'rendering', 'loading', 'finishing'] as const)
      sender.hear({ type: 'stage', stage });
  }
  t.same(
    sent.map((message) => message.type === 'progress' && message.stage),
    ['loading', 'rendering', 'finishing'],
  );
});

t.test('previews are sent at the configured interval', async (t) => {
  const { sender, sent, clock } = listenTo(1000);
  for (clock.nowMs = 0; clock.nowMs < 10_000; clock.nowMs += 10) sender.hear({ type: 'preview', jpeg: 'x' });
  t.equal(sent.length, 20);
  const none = listenTo(0);
  none.sender.hear({ type: 'preview', jpeg: 'x' });
  t.same(none.sent, []);
});

t.test('the first frame is sent even right after a stage', async (t) => {
  const { sender, sent } = listenTo();
  sender.hear({ type: 'stage', stage: 'rendering' });
  sender.hear({ type: 'progress', frames: 1, seconds: 0.1 });
  t.match(sent.at(-1), { stage: 'rendering', frames: 1 });
});
