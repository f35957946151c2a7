import t from 'tap';
import { audioOf } from '../../../lib/model/audio-rules.ts';

const code = 'invalid_request';

t.test('sounds are placed at a time or at a moment', async (t) => {
  const audio = [
    { file: 'voices/a.mp3', atSeconds: 0 },
    { file: 'b.wav', atCue: 'Proof', text: 'So.', words: [{ text: 'So.', startSeconds: 0.1 }] },
  ];
  t.same(audioOf(audio), audio);
  t.equal(audioOf(undefined), undefined);
  for (const [wrong, message] of [
    [{ file: 'a.mp3' }, /must have atSeconds or atCue/],
    [{ file: 'a.mp3', atSeconds: 1, atCue: 'x' }, /must have one of atSeconds and atCue/],
    [{ file: 'a.mp3', atSeconds: -1 }, /at least 0|greater than or equal to 0/],
    [{ file: 'a.mp3', atSeconds: '1' }, /must be a number/],
    [{ file: 'a.mp3', atCue: '' }, /atCue/],
    [{ file: 'a.png', atSeconds: 1 }, /must be the name of a sound/],
    [{ file: '/etc/a.mp3', atSeconds: 1 }, /must be the name of a sound/],
    [{ file: '../a.mp3', atSeconds: 1 }, /must be the name of a sound/],
    [{ file: 'a.mp3', atSeconds: 1, words: [{ text: 'x' }] }, /startSeconds must be given/],
    [{ file: 'a.mp3', atSeconds: 1, tempo: 2 }, /tempo/],
  ] as const)
    t.throws(() => audioOf([wrong]), { code, message }, JSON.stringify(wrong));
  t.throws(() => audioOf(Array.from({ length: 101 }, () => audio[0])), { code, message: /100/ });
  const words = Array.from({ length: 2000 }, () => ({ text: 'x'.repeat(100), startSeconds: 1 }));
  t.throws(() => audioOf([{ ...audio[0], words }]), { code, message: /128 KiB/ });
});
