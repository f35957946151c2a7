import t from 'tap';
import { addAudio } from '../../appliance/cli/audio-flags.ts';

t.test('a flag has a file, and seconds or a cue', async (t) => {
  t.same(addAudio('c.ogg@the end', addAudio('b@c.wav@2', addAudio('a.mp3@1.5'))), [
    { file: 'a.mp3', atSeconds: 1.5 },
    { file: 'b@c.wav', atSeconds: 2 },
    { file: 'c.ogg', atCue: 'the end' },
  ]);
  for (const wrong of ['a.mp3', '@1', 'a.mp3@', ''])
    t.throws(() => addAudio(wrong), { message: /Expected file@seconds/ });
});
