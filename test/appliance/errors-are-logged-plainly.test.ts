import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openLog } from '../../appliance/support/log.ts';
import { ScenepressError } from '../../lib/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

t.test(
  'an error is logged with its causes and simple fields, without the objects that it carries',
  async (t) => {
    const logFile = join(await temporaryFolder(t), 'log');
    const { logger } = openLog({ logLevel: 'info', logFormat: 'json', logFile });
    const logged = (err: unknown) => {
      logger.warn({ err }, 'It failed.');
      const line = readFileSync(logFile, 'utf8').trim().split('\n').at(-1) ?? '';
      return { line, err: (JSON.parse(line) as { err: Record<string, unknown> }).err };
    };
    const client = Object.assign(new EventEmitter(), { password: 'secret', ssl: { ca: 'x'.repeat(7_000) } });

    // As a pool of `pg` emits it when the server restarts.
    const closed = Object.assign(new Error('Connection terminated unexpectedly'), { client });
    const { line, err } = logged(closed);
    t.ok(line.length < 2_000, `${line.length} characters`);
    t.notMatch(line, /secret|xxx|_events/);
    t.strictSame(Object.keys(err), ['type', 'message', 'stack']);

    const refused = Object.assign(new Error('connect ECONNREFUSED'), {
      code: 'ECONNREFUSED',
      port: 5432,
      client,
    });
    t.match(logged(refused).err, {
      type: 'Error',
      message: 'connect ECONNREFUSED',
      code: 'ECONNREFUSED',
      port: 5432,
    });
    t.notHas(logged(refused).err, 'client');
    const withCause = logged(
      new ScenepressError('storage_failed', 'Nothing was changed', { cause: refused }),
    );
    t.match(withCause.err, { code: 'storage_failed', message: 'Nothing was changed: connect ECONNREFUSED' });
    t.match(withCause.err['stack'], /caused by: Error: connect ECONNREFUSED/);
    t.notMatch(withCause.line, /secret/);
    const both = logged(new AggregateError([refused, closed], 'all failed'));
    t.match(both.err, { aggregateErrors: [{ code: 'ECONNREFUSED' }, { message: /terminated/ }] });
    t.notMatch(both.line, /secret/);
    const long = logged(Object.assign(new Error('long'), { detail: 'y'.repeat(9_000) }));
    t.ok(String(long.err['detail']).length <= 1_000);
    t.equal(logged('a text').err, 'a text');
  },
);
