import fc from 'fast-check';
import t from 'tap';
import { QUALITY_NAMES } from '../../lib/model/qualities.ts';
import { listeningAppliance, VALID } from './listening-appliance.ts';

const ERRORS = new Set([
  'JSON body required',
  'code is required',
  'className must be a valid Python identifier',
  `quality must be one of: ${QUALITY_NAMES.join(', ')}`,
  'aspectRatio must be one of: 16:9, 9:16',
  'fps must be a positive integer',
  'webhookUrl must be an https:// URL',
]);

/** Valid and invalid field values. */
const field = fc.oneof(
  { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  fc.constantFrom('low', '9:16', 30, 0, -1, 1.5, 1e300, '', null, 'https://example.org', 'https://%'),
  fc.webUrl(),
);
const request = fc
  .dictionary(
    fc.oneof(
      fc.constantFrom('quality', 'aspectRatio', 'fps', 'metadata', 'webhookUrl', 'code', 'className'),
      fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty'),
      fc.string(),
    ),
    field,
    { maxKeys: 5 },
  )
  .map((fields) => JSON.stringify({ ...VALID, ...fields }));
const body = fc.oneof(
  { weight: 4, arbitrary: request },
  fc.json(),
  fc.string({ unit: 'binary' }),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
);
const headers = fc.record(
  {
    'content-type': fc.constantFrom('application/json', 'text/html', 'multipart/form-data; boundary=x', ';'),
    'content-encoding': fc.constantFrom('gzip', 'br', 'deflate', 'identity', 'x', ''),
    cookie: fc.constantFrom('a=b', '=;=', '"'),
  },
  { requiredKeys: [] },
);

t.test('any body gets 202 or a 400 with a message of the contract', async (t) => {
  const { post } = await listeningAppliance(t);
  const answered = fc.asyncProperty(body, headers, async (body, headers) => {
    const { status, json } = await post(body, headers);
    if (status === 202) return Object.keys(json).join() === 'jobId,status,endpoint';
    const error = String(json['error']);
    return status === 400 && (ERRORS.has(error) || / is not allowed(: did you mean \w+\?)?$/.test(error));
  });
  await t.resolves(fc.assert(answered, { numRuns: 250 }));
});
