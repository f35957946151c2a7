import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { speechCommand, wordsOfCommand } from '../../../lib/speech/speech-command.ts';
import { testFolder } from '../../fixtures/test-folder.ts';
import { until } from '../../fixtures/until.ts';
import { silentWav } from '../../fixtures/wav.ts';

const REQUEST = { text: 'Hello; $(touch x)', voice: null, language: null };
const WAV = silentWav(0.1);
/** Reads all text, and writes a WAV. */
const SAYS = `cat >/dev/null; echo ${WAV.toString('base64')} | base64 -d`;

const said = async (script: string, request = REQUEST, signal = new AbortController().signal) =>
  speechCommand(['sh', '-c', script, 'sh', '{voice|en}', '{language}'])(request, { signal });

t.test('a command gets the text on its input, and answers with audio', async (t) => {
  t.same((await said(SAYS)).audio, WAV);
  const { audio, words } = await said(
    `IFS= read -r text; printf '{"audio":"%s","words":[{"text":"%s","startSeconds":0.5},{"text":1}]}' ` +
      `${WAV.toString('base64')} "$text $1 $2"`,
    { text: 'Hi', voice: null, language: 'de' } as never,
  );
  t.same(audio, WAV);
  t.same(words, [{ text: 'Hi en de', startSeconds: 0.5 }]);
});

t.test('a WAV of a pipe gets its sizes', async (t) => {
  const wav = silentWav(0.1, { sizes: false });
  t.same((await said(`echo ${wav.toString('base64')} | base64 -d`)).audio, WAV);
});

t.test('voices stand for placeholders, within one argument', async (t) => {
  const script = `[ "$1" = de+f3 ] && ${SAYS}`;
  t.same((await said(script, { ...REQUEST, voice: 'de+f3' } as never)).audio, WAV);
});

t.test('what a command does wrong is told without its output, which is logged', async (t) => {
  for (const [script, message] of [
    ['echo /secret/path >&2; exit 3', 'the speech command ended with exit code 3'],
    ['kill -9 $$', 'the speech command ended with SIGKILL'],
    ['echo hello', 'the speech service answered with something else than WAV, MP3 or OGG'],
    [`printf '{"words":[]}'`, 'the speech service answered JSON without audio'],
    ['head -c 30000000 /dev/zero', 'its audio is too large'],
  ] as const)
    await t.rejects(said(script), { name: 'SpeechFailure', message }, script);
  await t.rejects(said('echo /secret/path >&2; exit 3'), { cause: { message: '/secret/path' } });
  const { signal } = new AbortController();
  const missing = async () => speechCommand(['/no/such/program'])(REQUEST, { signal });
  await t.rejects(missing, {
    message: 'the speech command could not be started',
  });
});

t.test('a command sees no settings of the service', async (t) => {
  for (const name of [
    'SCENEPRESS_MASTER_KEY',
    'AWS_SECRET_ACCESS_KEY',
    'PGPASSWORD',
    'OTEL_EXPORTER_OTLP_HEADERS',
  ]) {
    const before = process.env[name];
    process.env[name] = 'secret';
    t.teardown(() => {
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    });
    t.same((await said(`[ -z "$${name}" ] && ${SAYS}`)).audio, WAV, name);
  }
});

t.test(
  'of a service that is root, a command is another user',
  {
    skip: process.getuid?.() !== 0 && 'not root',
  },
  async (t) => {
    t.same((await said(`[ "$(id -u) $(id -g) $(id -G)" = "57999 57999 57999" ] && ${SAYS}`)).audio, WAV);
  },
);

t.test('an abort ends all processes of a command', async (t) => {
  const folder = testFolder(t);
  chmodSync(folder, 0o777);
  const file = join(folder, 'pid');
  const abort = new AbortController();
  const speech = said(
    `sleep 60 & echo $! > ${file}.new; mv ${file}.new ${file}; wait`,
    REQUEST,
    abort.signal,
  );
  const read = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : '');
  await until(() => read(file) !== '');
  abort.abort(new Error('no longer wanted'));
  await t.rejects(speech, { message: 'no longer wanted' });
  await until(() => /^$|State:\s+Z/m.test(read(`/proc/${read(file).trim()}/status`)));
});

t.test('words of a command are divided as a shell does, without anything else of a shell', async (t) => {
  t.same(wordsOfCommand(`piper --model "/opt/my voices/en.onnx" -o'x y'z $HOME`), [
    'piper',
    '--model',
    '/opt/my voices/en.onnx',
    '-ox yz',
    '$HOME',
  ]);
  for (const command of ['', '  ', [], ['']])
    t.throws(() => wordsOfCommand(command), { code: 'invalid_request' });
});
