import { text } from 'node:stream/consumers';
import t from 'tap';
import { giveTime } from '../../appliance/edge/request-time.ts';
import { guardedListener } from './guarded-listener.ts';

t.test('a request that arrives slowly is refused, unless it was given more time', async (t) => {
  const { hapi, open } = await guardedListener(t, { requestTimeout: 60_000, arrivesWithinMs: 200 });
  const begun = Promise.withResolvers<void>();
  hapi.route({
    method: 'POST',
    path: '/file',
    options: { payload: { parse: false, output: 'stream' } },
    handler: ({ raw: { req } }) => {
      giveTime(req);
      begun.resolve();
      return text(req);
    },
  });
  const headers = 'HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 10\r\n\r\n';
  const [slow, upload] = [await open(), await open()];
  upload.write(`POST /file ${headers}first`);
  await begun.promise;
  slow.write(`POST / ${headers}first`);
  t.match(await text(slow), /^HTTP\/1.1 408 .*The request took too long to arrive/s);
  upload.write('-last');
  t.match(await text(upload), /^HTTP\/1.1 200 .*first-last/s);
});
