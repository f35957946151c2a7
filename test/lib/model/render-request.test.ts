import t from 'tap';
import { QUALITY_NAMES } from '../../../lib/model/qualities.ts';
import { parseRenderRequest, RENDER_REQUEST_SCHEMA } from '../../../lib/model/render-request.ts';

const valid = { code: 'x', className: 'A' };

t.test('defaults are filled in, and nothing else', async (t) => {
  t.strictSame(parseRenderRequest(valid), { ...valid, quality: 'medium', aspectRatio: '16:9' });
});

const refused: [title: string, request: object, message: string][] = [
  ['no code', { className: 'A' }, 'code is required'],
  ['empty code', { ...valid, code: '' }, 'code is required'],
  ['code that is not a string', { ...valid, code: 1 }, 'code is required'],
  ['no class name', { code: 'x' }, 'className must be a valid Python identifier'],
  [
    'a class name with a newline',
    { ...valid, className: 'A\n' },
    'className must be a valid Python identifier',
  ],
  ['a class name in Greek', { ...valid, className: 'Ω' }, 'className must be a valid Python identifier'],
  ['null quality', { ...valid, quality: null }, `quality must be one of: ${QUALITY_NAMES.join(', ')}`],
  [
    'quality in capitals',
    { ...valid, quality: 'LOW' },
    `quality must be one of: ${QUALITY_NAMES.join(', ')}`,
  ],
  [
    'a class name with a space before it',
    { ...valid, className: ' A' },
    'className must be a valid Python identifier',
  ],
  ['an unknown ratio', { ...valid, aspectRatio: '4:3' }, 'aspectRatio must be one of: 16:9, 9:16'],
  ['no frames', { ...valid, fps: 0 }, 'fps must be a positive integer'],
  ['half frames', { ...valid, fps: 1.5 }, 'fps must be a positive integer'],
  ['frames as text', { ...valid, fps: '30' }, 'fps must be a positive integer'],
  ['endless frames', { ...valid, fps: Number.POSITIVE_INFINITY }, 'fps must be a positive integer'],
  ['http', { ...valid, webhookUrl: 'http://example.com' }, 'webhookUrl must be an https:// URL'],
  ['no host', { ...valid, webhookUrl: 'https://' }, 'webhookUrl must be an https:// URL'],
  [
    'a password in the URL',
    { ...valid, webhookUrl: 'https://u:p@example.com' },
    'webhookUrl must be an https:// URL',
  ],
  ['a URL that is not a string', { ...valid, webhookUrl: 5 }, 'webhookUrl must be an https:// URL'],
  ['an unknown property', { ...valid, colour: 'red' }, 'colour is not allowed'],
  [
    'a property named __proto__',
    JSON.parse('{"code":"x","className":"A","__proto__":1}'),
    '__proto__ is not allowed',
  ],
];
for (const [title, request, message] of refused) {
  t.test(`refuses ${title}`, async (t) => {
    t.throws(() => parseRenderRequest(request), { code: 'invalid_request', message });
    const defaults = { quality: 'low', aspectRatio: '16:9' };
    t.throws(() => parseRenderRequest({ ...defaults, ...request }), { code: 'invalid_request', message });
  });
}

t.test('errors are reported in the order of the contract’s fields, unknown properties last', async (t) => {
  const all = { nonsense: 1, fps: 0, quality: 'x', className: '1', code: '' };
  const good = { code: 'x', className: 'A', quality: 'low', fps: 1 };
  const request: Record<string, unknown> = { ...all };
  for (const field of ['code', 'className', 'quality', 'fps'] as const) {
    t.throws(() => parseRenderRequest(request), { message: new RegExp(`^${field} `) });
    request[field] = good[field];
  }
  t.throws(() => parseRenderRequest(request), { message: 'nonsense is not allowed' });
});

t.test('inherited properties of a request count', async (t) => {
  const inherits = (from: object) => Object.assign(Object.create(from), valid);
  const { quality, aspectRatio, fps, webhookUrl } = parseRenderRequest(
    inherits({ quality: 'high', aspectRatio: '9:16', fps: 24, webhookUrl: null }),
  );
  t.strictSame([quality, aspectRatio, fps, webhookUrl], ['high', '9:16', 24, null]);
  t.throws(() => parseRenderRequest(inherits({ fps: 0 })), { message: 'fps must be a positive integer' });
  t.throws(() => parseRenderRequest(Object.assign([], valid)), { code: 'invalid_request' });
});

t.test('accepts any positive integer as fps, however large', async (t) => {
  t.equal(parseRenderRequest({ ...valid, fps: 1e21 }).fps, 1e21);
});

t.test('accepts https URLs and null as webhookUrl', async (t) => {
  t.equal(parseRenderRequest({ ...valid, webhookUrl: null }).webhookUrl, null);
  t.equal(
    parseRenderRequest({ ...valid, webhookUrl: 'https://a.example/b?c' }).webhookUrl,
    'https://a.example/b?c',
  );
});

t.test('all fields of a valid request are kept', async (t) => {
  const all = {
    ...valid,
    quality: 'low',
    aspectRatio: '9:16',
    fps: 24,
    metadata: { n: [1] },
    webhookUrl: null,
  };
  t.strictSame(parseRenderRequest(all), all);
  t.strictSame(parseRenderRequest({ ...valid, metadata: null }).metadata, null);
});

t.test('a request is an object', async (t) => {
  for (const value of [undefined, null, 'x', 1, [valid]])
    t.throws(() => parseRenderRequest(value), {
      code: 'invalid_request',
      message: 'A request is an object.',
    });
});

t.test('the JSON Schema has the same rules', async (t) => {
  const { properties, ...object } = RENDER_REQUEST_SCHEMA;
  t.strictSame(object, { type: 'object', required: ['code', 'className'], additionalProperties: false });
  const rules = Object.entries(properties as Record<string, { description: string }>).map(
    ([name, { description, ...rule }]) => {
      t.match(description, /\.$/, `${name} is described`);
      return [name, rule];
    },
  );
  t.strictSame(rules, [
    ['code', { type: 'string', minLength: 1 }],
    ['className', { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }],
    ['quality', { type: 'string', default: 'medium', enum: QUALITY_NAMES }],
    ['aspectRatio', { type: 'string', default: '16:9', enum: ['16:9', '9:16'] }],
    ['fps', { type: 'integer', minimum: 1 }],
    ['metadata', {}],
    ['webhookUrl', { type: ['string', 'null'], pattern: '^https://' }],
  ]);
});
