import t from 'tap';
import { OPERATIONS, type Operation } from '../../appliance/admin/operations.ts';
import { shownDuration, shownNumber, shownSize, utcText } from '../../appliance/dashboard/format.ts';
import { DE } from '../../appliance/dashboard/language/de/index.ts';
import { EN } from '../../appliance/dashboard/language/en/index.ts';
import { inLanguage, languageOf } from '../../appliance/dashboard/language/texts.ts';
import { JOB_FORMATS } from '../../lib/internal.ts';
import { peopledAppliance } from './browser.ts';
import { leavesOf, SAMPLE, sampleOf } from './catalogue.ts';
import { Client, signedIn } from './client.ts';

/** Texts that are the same in both languages. */
const EQUAL = new Set([
  'accounts.webhooks',
  'accounts.subject',
  'acts.gone.deliveries',
  'acts.label',
  'common.administrator',
  'common.credits',
  'common.name',
  'common.seconds',
  'common.status',
  'common.webhook',
  'common.zone',
  'credits.creditsPerSecond',
  'files.kinds.tex',
  'format.number',
  'format.qualities.twok',
  'format.qualities.fourk',
  'job.format',
  'job.usage.work.tex',
  'keys.url',
  'layout.sections.webhooks',
  'layout.languages.en',
  'layout.languages.de',
  'library.videos',
  'ownAccount.browser',
  'playground.format',
  'playground.auto',
  'playground.enter',
  'playground.example',
  'service.sandbox',
  'service.installation',
  'service.isolation',
  'service.inFolder',
  'shares.link',
  'shares.video',
  'shares.videos',
  'watch.untitled',
  // The names of keys.
  'watch.keyList.1.0',
  'watch.keyList.2.0',
  'watch.keyList.3.0',
  'watch.keyList.4.0',
  'watch.keyList.5.0',
  'watch.keyList.6.0',
  'webhooks.title',
  'webhooks.attemptsAnswer',
  'webhooks.url',
  'webhooks.took',
]);
/** Stands where a header of a request does, not in HTML. */
const NO_MARKUP = 'webhooks.signatureToCome';

const english = new Map(leavesOf(EN));
const german = new Map(leavesOf(DE));
const pairs = Array.from(english, ([key, text]) => [key, text, german.get(key)] as const);

t.test('German texts differ from the English ones', async (t) => {
  const equal = pairs.filter(([, text, other]) => sampleOf(other) === sampleOf(text)).map(([key]) => key);
  t.same(equal.toSorted(), [...EQUAL].sort());
});

t.test('texts have no markup, and the same values in both languages', async (t) => {
  const valuesIn = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort().join();
  const faults = pairs.flatMap(([key, one, another]) => {
    const [text, other] = [sampleOf(one), sampleOf(another)];
    const hasMarkup = [text, other].some((said) => /<\/?[a-z]|&\w+;/i.test(said));
    const isWritten = text !== '' && other !== '';
    return [
      ...(hasMarkup && key !== NO_MARKUP ? [`${key} has markup`] : []),
      ...(valuesIn(text) === valuesIn(other) ? [] : [`${key} has other values`]),
      ...(text.split('`').length === other.split('`').length ? [] : [`${key} has other code`]),
      ...(isWritten && text.includes(SAMPLE) !== other.includes(SAMPLE) ? [`${key} leaves values out`] : []),
      ...(typeof one === 'function' && one.length !== (another as typeof one).length
        ? [`${key} takes other values`]
        : []),
    ];
  });
  t.same(faults, []);
});

t.test('all that is recorded, and all formats, have German names', async (t) => {
  const acts = Object.entries(OPERATIONS).flatMap(([noun, operations]) =>
    Object.entries<Operation>(operations)
      .filter(([, { isAct }]) => isAct)
      .map(([name]) => `${noun}.${name}`),
  );
  const unnamed = acts.filter((action) => DE.acts.label(action) === EN.acts.label(action));
  // The first format, MP4, is never offered.
  const formats = JOB_FORMATS.filter((format) => EN.job.format(format) !== '');
  const same = formats.filter((format) => DE.job.format(format) === EN.job.format(format));
  t.ok(acts.length > 20 && formats.length > 10);
  t.same([...unnamed, ...same], []);
});

t.test('the language is the chosen one, or else the first that the browser accepts', async (t) => {
  const of = (header?: string, cookie?: string) =>
    languageOf({
      headers: { 'accept-language': header },
      state: cookie === undefined ? {} : { scenepress_language: cookie },
    });
  t.equal(of(), 'en');
  t.equal(of('de'), 'de');
  t.equal(of('de-AT, en;q=0.8'), 'de', 'of a region');
  t.equal(of('DE'), 'de');
  t.equal(of('en;q=0.5, de;q=0.9'), 'de', 'by weight');
  t.equal(of('fr, de;q=0.2'), 'de', 'the first that there is');
  t.equal(of('de;q=0, fr'), 'en', 'refused');
  t.equal(of('de, en'), 'de');
  t.equal(of('en-GB,en,de'), 'en');
  for (const malformed of ['', '*', ',;,', 'de;q=x', 'de;q=1.2.3', 'd'.repeat(9), 'de_DE', 'constructor']) {
    t.equal(of(malformed), 'en', malformed);
  }
  t.equal(of('de', 'en'), 'en', 'the choice precedes');
  t.equal(of('en', 'de'), 'de');
  t.equal(of('de', 'fr'), 'de', 'one that there is not');
  t.equal(of(undefined, '__proto__'), 'en');
});

t.test('numbers, sizes, durations and times are written as the language does', async (t) => {
  const shown = () => [
    shownNumber(12_345),
    shownSize(1_440_000),
    shownDuration(620),
    utcText('2026-11-23T11:30:05.000Z'),
  ];
  t.same(inLanguage('en', shown), ['12,345', '1.4 MB', '0.6 s', '2026-11-23 11:30:05 UTC']);
  t.same(inLanguage('de', shown), ['12.345', '1,4 MB', '0,6 s', '23.11.2026, 11:30:05 UTC']);
});

t.test('a language is chosen before signing in, and on each page', async (t) => {
  const { port, admin, member } = await peopledAppliance(t);
  const client = new Client(port);
  t.match((await client.get('/dashboard/sign-in')).text, /<html lang="en"[\s\S]*>Deutsch<\/button>/);
  client.headers['referer'] = `http://127.0.0.1:${port}/dashboard/sign-in?next=%2Fdashboard%2Fjobs`;
  const from = '/dashboard/sign-in';
  const chosen = await client.post('/dashboard/language', { language: 'de' }, { from });
  t.match(chosen, { status: 303, headers: { location: '/dashboard/sign-in?next=%2Fdashboard%2Fjobs' } });
  const cookie = client.setCookies.find((line) => line.startsWith('scenepress_language='));
  t.match(cookie, /^scenepress_language=de; Max-Age=31536000;.* HttpOnly; SameSite=Lax; Path=\/dashboard$/);
  t.match((await client.get('/dashboard/sign-in')).text, /<html lang="de"[\s\S]*<h1>Anmelden<\/h1>/);
  t.match((await client.postAsIs('/dashboard/language', { language: 'en' })).status, 403, 'without a token');

  const reader = await signedIn(t, port, member);
  reader.headers['referer'] = `http://127.0.0.1:${port}/dashboard/webhooks/failed/send-again`;
  const { headers } = await reader.post('/dashboard/language', { language: 'de' });
  t.equal(headers.location, '/dashboard', 'a path that has no page leads to the overview');
  t.match((await reader.get('/dashboard')).text, '<h1>Bibliothek</h1>');
  t.match((await reader.get('/dashboard/nothing-here')).text, 'Diese Seite gibt es nicht.');
  await reader.post('/dashboard/language', { language: 'fr' });
  t.match((await reader.get('/dashboard/account')).text, '<h1>Konto</h1>', 'an unknown one changes nothing');

  const other = await signedIn(t, port, admin);
  other.headers['accept-language'] = 'de-CH';
  t.match((await other.get('/dashboard/service')).text, '<h1>Dienst</h1>');
  await other.post('/dashboard/language', { language: 'en' });
  t.match((await other.get('/dashboard/service')).text, '<h1>Service</h1>');
});
