import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { addAudio } from '../../appliance/cli/audio-flags.ts';

t.test('a flag has a file, and seconds or a cue', async (t) => {
  t.same(addAudio('c.ogg@the end', addAudio('b@c.wav@2', addAudio('a.mp3@1.5'))), [
    { file: 'a.mp3', atSeconds: 1.5 },
    { file: 'b@c.wav', atSeconds: 2 },
    { file: 'c.ogg', atCue: 'the end' },
  ]);
  for (const wrong of ['a.mp3', 'a.mp3@', '@', ''])
    t.throws(() => addAudio(wrong), { message: /Expected file@seconds/ });
});

t.test('a file has several, with their texts', (t) => {
  const folder = t.testdir({ 'no-list.json': '{}', 'no-json': '[' });
  const list = [
    { file: 'a.mp3', atSeconds: 1, text: 'Hello.' },
    { file: 'b.mp3', atCue: 'end', words: [{ text: 'Bye', startSeconds: 0.1 }] },
  ];
  writeFileSync(join(folder, 'list.json'), JSON.stringify(list));
  t.same(addAudio(`@${join(folder, 'list.json')}`, addAudio('c.ogg@2')), [
    { file: 'c.ogg', atSeconds: 2 },
    ...list,
  ]);
  for (const name of ['no-list.json', 'no-json'])
    t.throws(() => addAudio(`@${join(folder, name)}`), { message: /Expected a file with a JSON array/ });
  t.throws(() => addAudio(`@${join(folder, 'none')}`), { message: /^It can't be read: ENOENT/ });
  t.end();
});
