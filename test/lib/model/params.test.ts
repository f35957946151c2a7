import t from 'tap';
import { paramsOf } from '../../../lib/model/param-rules.ts';
import { type DeclaredParam, declaredParam, refused, undeclared } from '../../../lib/model/params.ts';
import { parseJobReport } from '../../../lib/model/renderer-protocol.ts';

const code = 'invalid_request';

t.test('parameters are a JSON object of bounded size, whose names are identifiers', (t) => {
  t.equal(paramsOf(undefined), undefined);
  t.same(paramsOf({ größe: 1, data: [{ x: null }] }), { größe: 1, data: [{ x: null }] });
  t.same(paramsOf({ at: new Date(0), no: undefined }), { at: '1970-01-01T00:00:00.000Z' }, 'as JSON');
  for (const wrong of [null, 7, [], 'x'])
    t.throws(() => paramsOf(wrong), { code, message: /^params must be of type object/ });
  for (const name of ['', 'a b', '1a', 'a-b', 'x'.repeat(101)])
    t.throws(() => paramsOf({ [name]: 1 }), { code, message: /Python identifiers/ }, name);
  const many = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`p${index}`, 1]));
  t.throws(() => paramsOf(many), { code, message: /100/ });
  t.throws(() => paramsOf({ a: 'x'.repeat(65_536) }), { code, message: /64 KiB/ });
  t.ok(paramsOf({ a: 'x'.repeat(65_000) }));
  const circle: Record<string, unknown> = {};
  circle['a'] = circle;
  for (const a of [circle, 1n]) t.throws(() => paramsOf({ a }), { code, message: /JSON/ });
  t.end();
});

const DECLARED = { name: 'a', type: 'integer', default: '3', label: 'A', minimum: 1, maximum: null };

t.test('what a scene reports of its parameters is sanitized', (t) => {
  const reported = (params: unknown) => parseJobReport(JSON.stringify({ type: 'params', params }));
  const whole = { ...DECLARED, choices: '[3, 4]' };
  t.same(reported([whole]), { type: 'params', params: [whole] });
  const odd = [
    7,
    { ...whole, name: 'a b' },
    { ...whole, name: 'x'.repeat(101) },
    { ...whole, type: 'complex' },
    { ...whole, default: '{', label: 'x'.repeat(999), minimum: 'x', choices: 'x'.repeat(5000) },
  ];
  t.same(reported(odd), {
    type: 'params',
    params: [{ ...whole, default: null, label: 'x'.repeat(200), minimum: null, choices: null }],
  });
  t.same(reported('x'), { type: 'params', params: [] });
  t.same(reported(Array(999).fill(whole)), { type: 'params', params: Array(100).fill(whole) });
  t.end();
});

t.test('a declaration has values instead of texts', (t) => {
  const param = { ...DECLARED, type: 'integer' as const };
  t.same(declaredParam({ ...param, choices: '[3]' }), { ...param, default: 3, choices: [3] });
  t.same(declaredParam({ ...param, default: null, choices: '{}' }), {
    ...param,
    default: null,
    choices: null,
  });
  t.end();
});

t.test('a given parameter that no scene declares is a warning', (t) => {
  const declared = [declaredParam({ ...DECLARED, type: 'integer', choices: null })];
  t.same(undeclared({ a: 1 }, declared), []);
  const kind = 'scene:param';
  t.match(undeclared({ a: 1, b: 2 }, declared), [
    {
      kind,
      severity: 'warning',
      message: /no parameter b,/,
      hint: 'The scene declares a.',
      candidates: ['a'],
    },
  ]);
  t.match(undeclared({ b: 2 }, []), [{ kind, hint: /^Declare it: .*b = param\("b", …\)\.$/ }]);
  t.end();
});

t.test('values that break a rule of their declarations are refused', (t) => {
  const param = { name: 'a', label: null, default: null, minimum: null, maximum: null, choices: null };
  const cases: [rule: object, value: unknown, message: RegExp | undefined][] = [
    [{ type: 'string' }, 'x', undefined],
    [{ type: 'string' }, 7, /^The parameter a must be a text, not 7\.$/],
    [{ type: 'string', maximum: 2 }, '🎈🎈', undefined],
    [{ type: 'string', maximum: 2 }, 'abc', /of a length of at most 2, not "abc"/],
    [{ type: 'integer' }, 1.5, /a whole number/],
    [{ type: 'number', minimum: 1 }, 0.5, /must be at least 1, not 0.5/],
    [{ type: 'number', maximum: 1 }, 1, undefined],
    [{ type: 'boolean' }, 'true', /true or false/],
    [{ type: 'array', minimum: 1 }, [], /of a length of at least 1/],
    [{ type: 'array' }, {}, /a list/],
    [{ type: 'object' }, [], /an object/],
    [{ type: 'any' }, null, undefined],
    [{ type: 'string', choices: ['en', 'de'] }, 'fr', /one of "en", "de", not "fr"/],
    [{ type: 'array', choices: [[1]] }, [1], undefined],
  ];
  for (const [rule, value, message] of cases) {
    const found = refused({ a: value }, [{ ...param, ...rule } as DeclaredParam]);
    if (message) t.match(found, [{ kind: 'scene:param', severity: 'error', message, hint: /another value/ }]);
    else t.same(found, []);
  }
  t.same(refused({ b: 1 }, [{ ...param, type: 'string' } as DeclaredParam]), []);
  t.end();
});
