import fc from 'fast-check';
import t from 'tap';
import { bytesOf, html, isShort, longText, type Value, wholeText } from '../../appliance/dashboard/html.ts';

t.test('text is escaped in content and in attributes, markup of templates is not', async (t) => {
  const evil = `<b title="'x'">&amp;`;
  const escaped = '&lt;b title=&quot;&#39;x&#39;&quot;&gt;&amp;amp;';
  t.equal(html`<p class="${evil}">${evil}</p>`.text, `<p class="${escaped}">${escaped}</p>`);
  t.equal(html`<p>${html`<b>${1}</b>`}${[html`<i>`, '<', 2]}</p>`.text, '<p><b>1</b><i>&lt;2</p>');
  t.equal(html`<p>${null}${undefined}${false}</p>`.text, '<p></p>');
});

t.test('no text adds a tag or an attribute', async (t) => {
  const shape = (text: Value) =>
    html`<a href="/x?${text}" title="${text}">${text}</a>`.text.replace(/[^<>"]/g, '');
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => shape(text) === shape('')));
  t.equal(shape('"><script>'), '<""""><>');
});

t.test('a URL that is neither a path nor a web address is left out', async (t) => {
  const link = (url: string) => html`<a href="${url}">`.text;
  for (const url of ['/jobs', '?a=b', '#a', 'https://example.org/', 'http://localhost:1/'])
    t.match(link(url), url);
  for (const url of [
    'javascript:alert(1)',
    ' javascript:x',
    'JaVaScRiPt:x',
    '//evil.example',
    '/\\evil.example',
    'data:text/html,x',
    '\tjavascript:x',
  ])
    t.equal(link(url), '<a href="">', url);
});

t.test('values where escaping does not suffice are rejected', async (t) => {
  const text = 'x';
  t.throws(() => html`<p class=${text}>`);
  t.throws(() => html`<${text}>`);
  t.throws(() => html`<p onclick="${text}">`);
  t.throws(() => html`<p style="${text}">`);
  t.throws(() => html`<script>${text}</script>`);
  t.throws(() => html`<!-- ${text} -->`);
  t.throws(() => html`<p title="${html`<b>`}">`);
  t.throws(() => html`<input ${'onfocus=alert(1)'}>`);
  t.equal(html`<input ${'autofocus'} ${false}>`.text, '<input autofocus >');
});

t.test('a text that people read is cut, unless it is shown as a long or whole one', async (t) => {
  const long = '&'.repeat(10_000);
  const cut = `${'&amp;'.repeat(200)}…`;
  t.equal(html`<p title="${long}">${long}</p>`.text, `<p title="${cut}">${cut}</p>`);
  t.equal(html`<p>${longText(long, 12)}</p>`.text, '<p>&amp;&amp;…</p>');
  t.equal(html`<p>${longText('a😀b', 4)}</p>`.text, '<p>a…</p>', 'not between the halves of a pair');
  t.equal(html`<p>${wholeText(long)}</p>`.text.length, 50_007);
  t.equal(html`<input value="${long}">`.text.length, 50_016, 'what programs read is not cut');
  t.same([isShort(long, 50_000), isShort(long, 49_999), bytesOf('"\'<>&aé中')], [true, false, 30]);
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme' }),
      (text) => bytesOf(text) === Buffer.byteLength(wholeText(text).text),
    ),
  );
});
