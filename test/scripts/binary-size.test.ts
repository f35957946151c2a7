import t from 'tap';
import { checkSize } from '../../scripts/binary/size.ts';
import { DEFAULT_COMPRESSION } from '../../scripts/root/command-line.ts';

t.test('an executable that is larger than the manual says fails the build', async (t) => {
  checkSize(599_000_000, DEFAULT_COMPRESSION);
  checkSize(700_000_000, 3);
  t.throws(() => checkSize(600_000_000, DEFAULT_COMPRESSION), {
    name: 'BuildError',
    message: /has 600 MB, not less than 600 MB\. Cut/,
  });
});
