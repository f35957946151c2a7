import t from 'tap';
import { QUALITY_NAMES } from '../../lib/model/qualities.ts';
import { listeningAppliance, VALID } from './listening-appliance.ts';

const CODE = 'code is required';
const CLASS_NAME = 'className must be a valid Python identifier';
const QUALITY = `quality must be one of: ${QUALITY_NAMES.join(', ')}`;
const ASPECT_RATIO = 'aspectRatio must be one of: 16:9, 9:16';
const FPS = 'fps must be a positive integer';
const WEBHOOK_URL = 'webhookUrl must be an https:// URL';

/** An invalid body and the `error` of its response. */
const REFUSED: [body: unknown, error: string][] = [
  [{}, CODE],
  [{ className: 'Scene1' }, CODE],
  [{ ...VALID, code: '' }, CODE],
  [{ ...VALID, code: null }, CODE],
  [{ ...VALID, code: 7 }, CODE],
  [{ ...VALID, code: ['print()'] }, CODE],
  [{ code: 'x' }, CLASS_NAME],
  [{ ...VALID, className: '' }, CLASS_NAME],
  [{ ...VALID, className: '1st' }, CLASS_NAME],
  [{ ...VALID, className: 'My Scene' }, CLASS_NAME],
  [{ ...VALID, className: 'Scene1\n' }, CLASS_NAME],
  [{ ...VALID, className: 'Größe' }, CLASS_NAME],
  [{ ...VALID, className: 'a.b' }, CLASS_NAME],
  [{ ...VALID, className: null }, CLASS_NAME],
  [{ ...VALID, quality: 'ultra' }, QUALITY],
  [{ ...VALID, quality: 'LOW' }, QUALITY],
  [{ ...VALID, quality: null }, QUALITY],
  [{ ...VALID, quality: 1 }, QUALITY],
  [{ ...VALID, aspectRatio: '4:3' }, ASPECT_RATIO],
  [{ ...VALID, aspectRatio: null }, ASPECT_RATIO],
  [{ ...VALID, fps: 0 }, FPS],
  [{ ...VALID, fps: -1 }, FPS],
  [{ ...VALID, fps: 29.97 }, FPS],
  [{ ...VALID, fps: '30' }, FPS],
  [{ ...VALID, fps: null }, FPS],
  ['{"code":"x","className":"A","fps":1e400}', FPS],
  [{ ...VALID, webhookUrl: 'http://example.org/' }, WEBHOOK_URL],
  [{ ...VALID, webhookUrl: 'HTTPS://example.org/' }, WEBHOOK_URL],
  [{ ...VALID, webhookUrl: 'https://' }, WEBHOOK_URL],
  [{ ...VALID, webhookUrl: 'https://user:password@example.org/' }, WEBHOOK_URL],
  [{ ...VALID, webhookUrl: '' }, WEBHOOK_URL],
  [{ ...VALID, webhookUrl: 7 }, WEBHOOK_URL],
  [{ ...VALID, webhookUrl: ['https://example.org/'] }, WEBHOOK_URL],
  [{ ...VALID, codec: 'h265' }, 'codec is not allowed'],
  [{ ...VALID, Quality: 'low' }, 'Quality is not allowed: did you mean quality?'],
  ['{"code":"x","className":"A","__proto__":{"code":"y"}}', '__proto__ is not allowed'],
  ['{"className":"A","__proto__":{"code":"y"}}', CODE],
  ['{"code":"x","className":"A","constructor":1}', 'constructor is not allowed'],
  // Errors are reported in the order of the fields, unknown properties last.
  [{ codec: 1, fps: 0, quality: 'x', className: '', code: '' }, CODE],
  [{ codec: 1, fps: 0, quality: 'x', className: '', code: 'x' }, CLASS_NAME],
  [
    { ...VALID, code: 'one\ntext = "\udcf6"' },
    'code is not UTF-8: line 2 has half of a character, as from a file in another encoding',
  ],
  [{ codec: 1, webhookUrl: 1, fps: 0, ...VALID }, FPS],
  [{ codec: 1, webhookUrl: 1, ...VALID }, WEBHOOK_URL],
  // Of several members with the same name, the last counts.
  ['{"code":"x","code":"","className":"A"}', CODE],
];

const ACCEPTED: unknown[] = [
  VALID,
  { ...VALID, quality: 'low' },
  { ...VALID, quality: 'medium' },
  { ...VALID, quality: 'high' },
  { ...VALID, quality: 'twok' },
  { ...VALID, quality: 'fourk' },
  { ...VALID, aspectRatio: '16:9' },
  { ...VALID, aspectRatio: '9:16' },
  { ...VALID, fps: 1 },
  { ...VALID, fps: 240 },
  { ...VALID, fps: 1e300 },
  { ...VALID, webhookUrl: null },
  { ...VALID, webhookUrl: 'https://example.org/hook?a=b' },
  { ...VALID, className: 'class' },
  { ...VALID, className: '_' },
  { ...VALID, code: ' ' },
  { ...VALID, code: 'print("\u0000 🎬 日本")' },
  '{"code":"","code":"x","className":"A"}',
  '{"c\\u006fde":"x","className":"A"}',
];

t.test('an invalid request gets 400 with the contract’s message', async (t) => {
  const { post } = await listeningAppliance(t);
  for (const [body, error] of REFUSED) {
    const { status, json } = await post(body);
    t.match({ status, json }, { status: 400, json: { error } }, JSON.stringify(body));
    t.strictSame(Object.keys(json), ['error']);
  }
});

t.test('a valid request gets 202 with the id of its job', async (t) => {
  const { post } = await listeningAppliance(t);
  for (const body of ACCEPTED) {
    const { status, json } = await post(body);
    const { jobId, ...rest } = json;
    t.equal(status, 202, JSON.stringify(body));
    t.match(jobId, /^[A-Za-z0-9_-]{30,}$/);
    t.strictSame(rest, { status: 'queued', endpoint: 'render' });
  }
});
