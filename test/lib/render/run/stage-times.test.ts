import t from 'tap';
import { ProgressSender } from '../../../../lib/render/run/progress-sender.ts';

t.test('the time of each stage is that until the next one', async (t) => {
  let nowMs = 100;
  const sender = new ProgressSender({ send: () => {}, previewIntervalMs: 0, nowMs: () => nowMs });
  t.same(sender.stagesMs(100), {});
  nowMs = 110;
  sender.hear({ type: 'stage', stage: 'loading' });
  nowMs = 150;
  sender.hear({ type: 'stage', stage: 'rendering' });
  t.same(sender.stagesMs(100), { loading: 50, rendering: 0 });
  nowMs = 400;
  sender.hear({ type: 'stage', stage: 'loading' });
  sender.hear({ type: 'stage', stage: 'finishing' });
  nowMs = 425;
  t.same(sender.stagesMs(100), { loading: 50, rendering: 250, finishing: 25 });
});
