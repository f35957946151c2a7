import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { silentLogger } from '../../../lib/base/logger.ts';
import { systemRandom } from '../../../lib/base/random.ts';
import type { SpeechFunction, SpeechOptions } from '../../../lib/model/speech.ts';
import { Speaker } from '../../../lib/speech/speaker.ts';
import { SpeechOfRender } from '../../../lib/speech/speech-of-render.ts';
import { DEFAULT_SPEECH } from '../../../lib/speech/speech-options.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { testFolder } from '../../fixtures/test-folder.ts';
import { silentWav } from '../../fixtures/wav.ts';
import { settled } from '../../simulator/settled.ts';

const WAV = silentWav(0.1);
const ask = (text: string) => ({ text, voice: null, language: null });
const forever = new AbortController().signal;

function speaker(options: SpeechOptions, cacheFolder?: string) {
  const clock = new FakeClock('2026-11-29T00:00:00Z');
  const all = { ...DEFAULT_SPEECH, ...(cacheFolder && { cacheFolder }), ...options };
  return { clock, speaker: new Speaker(all, { clock, random: systemRandom, logger: silentLogger }) };
}

/** A function whose calls are answered by the test. */
function waiting() {
  const calls: { text: string; signal: AbortSignal; answer: () => void }[] = [];
  const speak: SpeechFunction = ({ text }, { signal }) =>
    new Promise((resolve) => void calls.push({ text, signal, answer: () => resolve({ audio: WAV }) }));
  return { calls, speak };
}

t.test('audio is kept by text, voice, language and what made it', async (t) => {
  const cacheFolder = testFolder(t);
  let calls = 0;
  const speak: SpeechFunction = () => {
    calls += 1;
    return { audio: WAV, words: [{ text: 'Secret', startSeconds: 0 }] };
  };
  const { speaker: one } = speaker({ speak }, cacheFolder);
  const first = await one.say(ask('Secret'), forever);
  const { speaker: after } = speaker({ speak }, cacheFolder);
  t.same(await after.say(ask('Secret'), forever), { speech: first.speech, madeInMs: 0 });
  t.equal(calls, 1, 'also after a start');
  await after.say({ ...ask('Secret'), voice: 'de' }, forever);
  await speaker({ speak, version: '2' }, cacheFolder).speaker.say(ask('Secret'), forever);
  t.equal(calls, 3);
  const names = readdirSync(cacheFolder);
  t.equal(names.length, 3);
  for (const name of names) t.notOk(readFileSync(join(cacheFolder, name)).includes('Secret'));

  for (const name of names) writeFileSync(join(cacheFolder, name), 'damaged');
  await after.say(ask('Secret'), forever);
  t.equal(calls, 4, 'damaged audio is made again');
});

t.test('the least recently used audio makes room', async (t) => {
  const cacheFolder = testFolder(t);
  const calls: string[] = [];
  const speak: SpeechFunction = ({ text }) => {
    calls.push(text);
    return { audio: WAV };
  };
  const { speaker: one } = speaker({ speak, cacheBytes: 5_000 }, cacheFolder);
  await one.say(ask('a'), forever);
  const size = statSync(join(cacheFolder, readdirSync(cacheFolder)[0] ?? '')).size;
  t.ok(size > 2_000 && size < 2_500, 'two have room');
  const [name = ''] = readdirSync(cacheFolder);
  utimesSync(join(cacheFolder, name), 1, 1);
  await one.say(ask('b'), forever);
  await one.say(ask('c'), forever);
  t.equal(readdirSync(cacheFolder).length, 2);
  await one.say(ask('b'), forever);
  await one.say(ask('a'), forever);
  t.same(calls, ['a', 'b', 'c', 'a']);
});

t.test('some texts are said at the same time, equal ones together', async (t) => {
  const { calls, speak } = waiting();
  const { speaker: one } = speaker({ speak, concurrency: 2 });
  const said = ['a', 'b', 'c', 'a'].map((text) => one.say(ask(text), forever));
  await settled();
  t.same(
    calls.map(({ text }) => text),
    ['a', 'b'],
  );
  calls[0]?.answer();
  await Promise.all([said[0], said[3]]);
  t.same(
    calls.map(({ text }) => text),
    ['a', 'b', 'c'],
  );
  for (const { answer } of calls) answer();
  await Promise.all(said);
});

t.test('a text is given up when the last render that waits for it ends', async (t) => {
  const { calls, speak } = waiting();
  const { speaker: one } = speaker({ speak, concurrency: 1 });
  const [first, second] = [new AbortController(), new AbortController()];
  const both = [first, second].map(({ signal }) => one.say(ask('a'), signal));
  await settled();
  first.abort(new Error('stopped'));
  await t.rejects(both[0] as Promise<unknown>, { message: 'stopped' });
  t.notOk(calls[0]?.signal.aborted, 'another waits');
  second.abort(new Error('stopped'));
  await t.rejects(both[1] as Promise<unknown>, { message: 'stopped' });
  t.ok(calls[0]?.signal.aborted);
  const next = one.say(ask('b'), forever);
  await settled();
  calls[1]?.answer();
  await next;
});

t.test('a text has a time', async (t) => {
  const { calls, speak } = waiting();
  const { speaker: one, clock } = speaker({ speak, timeoutMs: 5_000 });
  const said = one.say(ask('a'), forever);
  await settled();
  clock.advance(5_000);
  await t.rejects(said, { message: 'it took longer than 5 seconds' });
  t.ok(calls[0]?.signal.aborted);
});

t.test('errors of a function are not told to authors', async (t) => {
  const { speaker: one } = speaker({ speak: () => Promise.reject(new Error('/secret')) });
  await t.rejects(one.say(ask('a'), forever), {
    message: 'the speech service failed',
    cause: { message: '/secret' },
  });
  const { speaker: other } = speaker({ speak: () => ({ audio: 'no bytes' }) as never });
  await t.rejects(other.say(ask('a'), forever), { message: /something else than WAV/ });
});

async function serving(t: Test, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/say`;
}

t.test('a server is asked by POST', async (t) => {
  const url = await serving(t, async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    const { text } = JSON.parse(body);
    if (text === 'busy') response.writeHead(503).end('internal');
    else if (text === 'moved') response.writeHead(302, { location: '/elsewhere' }).end();
    else if (text === 'large') response.end(Buffer.alloc(25 * 1024 ** 2));
    else response.end(JSON.stringify({ audio: WAV.toString('base64'), words: [{ text, startSeconds: 0 }] }));
  });
  const { speaker: one } = speaker({ url });
  const { speech } = await one.say(ask('Hi'), forever);
  t.same(speech, { audio: WAV, words: [{ text: 'Hi', startSeconds: 0 }] });
  await t.rejects(one.say(ask('busy'), forever), {
    message: 'the speech service answered with the status 503',
  });
  await t.rejects(one.say(ask('moved'), forever), { message: 'the speech service could not be reached' });
  await t.rejects(one.say(ask('large'), forever), { message: 'its audio is too large' });
});

t.test('a render hears each text once, in order, up to limits', async (t) => {
  const calls: string[] = [];
  const say = async ({ text }: { text: string }) => {
    calls.push(text);
    return {
      speech: { audio: text.trim() === 'large' ? Buffer.alloc(65 * 1024 ** 2) : WAV },
      madeInMs: text === 'slow' ? 601_000 : 0,
    };
  };
  const render = () => new SpeechOfRender({ say });
  const one = render();
  t.same(await Promise.all([one.answer(ask('a')), one.answer(ask('a'))]), [
    { audio: WAV, words: [], error: null },
    { audio: WAV, words: [], error: null },
  ]);
  t.same(calls, ['a']);
  const errorOf = async (of: SpeechOfRender, text: string) => (await of.answer(ask(text))).error;
  t.equal(await errorOf(one, ''), 'it does not have 1 to 4000 characters');
  t.equal(await errorOf(one, 'x'.repeat(4001)), 'it does not have 1 to 4000 characters');
  t.equal((await one.answer({ ...ask('b'), voice: '-x' })).error, 'voice or language is not a name');
  await errorOf(one, 'large');
  t.equal(await errorOf(one, 'large '), 'the audio of this render is larger than 128 MiB');
  const slow = render();
  await errorOf(slow, 'slow');
  t.equal(await errorOf(slow, 'b'), 'the texts of this render took more than 600 seconds');
  const many = render();
  for (let text = 1; text <= 200; text += 1) t.equal(await errorOf(many, `${text}`), null);
  t.equal(await errorOf(many, '201'), 'a render has at most 200 texts without files');
  t.equal(await errorOf(many, '7'), null, 'one that it has heard');
});
