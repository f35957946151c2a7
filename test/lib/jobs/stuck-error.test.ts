import t from 'tap';
import { StuckError } from '../../../lib/jobs/stuck-error.ts';

t.test('it names the job and the cause', (t) => {
  const cause = new Error('the disk failed');
  const error = new StuckError('1', cause);
  t.match(error, { jobId: '1', cause, message: /neither added nor rolled back/ });
  t.end();
});
