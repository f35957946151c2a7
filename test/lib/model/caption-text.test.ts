import t from 'tap';
import { captionText } from '../../../lib/model/caption-text.ts';

const cue = (text: string) => `00:00:00.000 --> 00:00:01.000\n${text}\n`;

t.test('captions are read without times, numbers, notes, tags and escapes', async (t) => {
  const file = `WEBVTT\n\nNOTE by hand\n\n1\n${cue('<v Ada>a &lt; b</v>\nand &amp;lt;')}\n${cue('--&gt; done')}`;
  t.equal(captionText(file), 'a < b\nand &lt;\n--> done');
  t.equal(captionText(file.replaceAll('\n', '\r\n')), captionText(file));
});

t.test('a file that says nothing has no text', async (t) => {
  for (const file of ['', 'WEBVTT\n', `WEBVTT\n\n${cue(' ')}`, 'WEBVTT\n\n00:00 --> 00:01', 'a\n\nb\n'])
    t.equal(captionText(file), null, JSON.stringify(file));
});

t.test('long captions are cut, between characters, in bounded time', async (t) => {
  const text = captionText(`WEBVTT\n\n${cue(`a${'𝄞'.repeat(20_000)}`)}`);
  t.equal(text?.length, 20_000);
  t.ok(text?.isWellFormed());
  const begun = process.cpuUsage();
  for (const part of ['<', '-->', '&', '\n', '\n\n', '-->\n', ' '])
    captionText(cue(part.repeat(262_144 / part.length)));
  const { user, system } = process.cpuUsage(begun);
  t.ok((user + system) / 1000 < 1_000);
});
