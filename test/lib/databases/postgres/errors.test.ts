import t from 'tap';
import { silentLogger } from '../../../../lib/base/logger.ts';
import { explained } from '../../../../lib/databases/postgres/errors.ts';
import { isScenepressError } from '../../../../lib/index.ts';
import { endOfFailure } from '../../../../lib/jobs/end/attempt-end.ts';
import { jobRecord } from '../../../fixtures/job-record.ts';

const job = jobRecord('1', { phase: 'running', attempts: 2 });

const outages: [what: string, failure: object][] = [
  ['the server shuts down', { code: '57P01' }],
  ['the server starts', { code: '57P03' }],
  ['the server ends a transaction that took too long', { code: '25P04' }],
  ['the server is a replica', { code: '25006' }],
  ['the server has too many connections', { code: '53300' }],
  ['the connection ends', { message: 'Connection terminated unexpectedly' }],
  ['no connection opens in time', { message: 'timeout exceeded when trying to connect' }],
  ['no answer arrives in time', { message: 'Query read timeout' }],
  ['a statement takes too long', { code: '57014' }],
  ['a lock is not free in time', { code: '55P03' }],
  ['transactions conflict again and again', { code: '40001' }],
  ['the disk of the server is full', { code: '53100' }],
  ['nothing listens', { code: 'ECONNREFUSED' }],
  ['the password is that of before', { code: '28P01' }],
  ['the database is gone', { code: '3D000' }],
  ['a right is missing', { code: '42501' }],
];

for (const [what, failure] of outages) {
  t.test(`a job waits, and its attempt does not count, while ${what}`, async (t) => {
    const error = explained(Object.assign(new Error('failed'), failure)) as Error;
    t.ok(isScenepressError(error, 'storage_failed', 'storage_full'));
    t.match(endOfFailure(job, error, silentLogger), { next: 'wait', hold: 'shortage' });
  });
}

t.test('errors that no retry mends count as attempts', async (t) => {
  const error = explained(Object.assign(new Error('failed'), { code: 'XX001' })) as Error;
  t.ok(isScenepressError(error, 'storage_damaged'));
  t.match(endOfFailure(job, error, silentLogger), { next: 'count' });
});
