import t from 'tap';
import { validJobQuery } from '../../../../lib/jobs/watch/valid-job-query.ts';
import { firstIdAt } from '../../../../lib/model/ids.ts';
import type { JobListQuery } from '../../../../lib/model/job-list-query.ts';
import { QUALITY_NAMES } from '../../../../lib/model/qualities.ts';

const NOW_MS = Date.parse('2026-11-21T10:00:00Z');

t.test('valid queries are passed on', (t) => {
  t.same(validJobQuery({}), {});
  for (const status of ['queued', 'running', 'completed', 'failed'] as const) {
    const query = { owner: 'a', status, quality: 'high', limit: 1, before: 'x' } as const;
    t.strictSame(validJobQuery(query), query);
  }
  const undefinedParts = { owner: undefined, before: undefined, limit: undefined, sinceMs: undefined };
  t.match(validJobQuery(undefinedParts as unknown as JobListQuery), {});
  t.end();
});

for (const [name, values, message] of [
  ['owner', [1, null], 'owner must be a string, not '],
  ['owner', ['a\0', 'a\ud800'], 'owner must be a string of well-formed Unicode without NUL.'],
  ['before', [1, null], 'before must be a string, not '],
  ['after', ['\0'], 'after must be a string of well-formed Unicode without NUL.'],
  ['limit', [0, -1], 'limit must be greater than or equal to 1, not '],
  ['limit', ['1', null], 'limit must be a number, not '],
  ['limit', [1.5], 'limit must be an integer, not 1.5.'],
  ['limit', [2 ** 53], 'limit must be a safe number, not 9007199254740992.'],
  ['status', ['settling', '', null], 'status must be one of [queued, running, completed, failed], not '],
  ['quality', ['8k', '', null], `quality must be one of [${QUALITY_NAMES.join(', ')}], not `],
  ['canceled', [1, 'true', null], 'canceled must be a boolean, not '],
  ['sinceMs', [1.5], 'sinceMs must be an integer, not 1.5.'],
  ['untilMs', ['1', null, Number.NaN], 'untilMs must be a number, not '],
] as const) {
  t.test(`an invalid ${name} is rejected: ${message}`, (t) => {
    for (const value of values) {
      t.throws(() => validJobQuery({ [name]: value } as JobListQuery), { code: 'invalid_request', message });
    }
    t.end();
  });
}

t.test('times become limits of ids', (t) => {
  const [since, until] = [firstIdAt(NOW_MS), firstIdAt(NOW_MS + 1)];
  t.strictSame(validJobQuery({ sinceMs: NOW_MS, untilMs: NOW_MS + 1 }), { after: since, before: until });
  t.strictSame(validJobQuery({ sinceMs: 0 }), { after: firstIdAt(0) });
  t.strictSame(validJobQuery({ untilMs: 0 }), { before: firstIdAt(0) });
  const earlier = firstIdAt(NOW_MS - 1);
  t.strictSame(validJobQuery({ untilMs: NOW_MS, before: earlier }), { before: earlier });
  t.strictSame(validJobQuery({ untilMs: NOW_MS - 1, before: firstIdAt(NOW_MS) }), { before: earlier });
  t.strictSame(validJobQuery({ before: earlier }), { before: earlier });
  t.end();
});
