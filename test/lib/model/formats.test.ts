import { Readable } from 'node:stream';
import t from 'tap';
import {
  ARTIFACT_NAMES,
  ARTIFACTS,
  type ArtifactName,
  artifactNamesOf,
  CONTRACT_ARTIFACTS,
} from '../../../lib/model/artifacts.ts';
import {
  checkFormats,
  drawingsOf,
  JOB_FORMATS,
  type JobFormat,
  othersOf,
} from '../../../lib/model/formats.ts';
import { artifactAnswer } from '../../../lib/web/artifact-answer.ts';

t.test('the contract keeps its three artifacts', async (t) => {
  t.strictSame(CONTRACT_ARTIFACTS, ['video.mp4', 'thumbnail.jpg', 'captions.vtt']);
  t.strictSame(artifactNamesOf(['sprites']), [...CONTRACT_ARTIFACTS, 'sprites.jpg', 'sprites.vtt']);
});

t.test('only a page can run scripts in a browser, in a sandbox without an origin', async (t) => {
  const headersOf = async (name: ArtifactName) => {
    const artifact = { name, jobId: 'j', sizeBytes: 1 };
    const service = {
      get: async () => ({ artifacts: [artifact] }) as never,
      openArtifact: async () => ({ stream: Readable.from(['x']), sizeBytes: 1 }) as never,
    };
    const how = { isHead: false, range: undefined, ifRange: undefined };
    return (await artifactAnswer({ service }, 'j', name, how)).headers;
  };
  for (const name of ARTIFACT_NAMES) {
    const { 'content-security-policy': policy = '', 'content-disposition': saved = '' } =
      await headersOf(name);
    const { contentType } = ARTIFACTS[name];
    if (contentType.startsWith('text/html')) t.match(policy, /^sandbox(?!.*same-origin)/, name);
    else if (contentType.includes('pdf')) t.match(saved, /^attachment/, name);
    else t.notMatch(contentType, /html|svg|xml|javascript|pdf/);
  }
});

t.test('formats without a background need a second drawing, with the colours of each pixel', async (t) => {
  t.match(drawingsOf([]), [{ isTransparent: false, hasColours: false, hasSections: false, formats: [] }]);
  t.match(drawingsOf(['slides']), [{ isTransparent: false, hasColours: false, hasSections: true }]);
  t.match(drawingsOf(['webm', 'sections']), [{ hasColours: false, hasSections: true }]);
  const [first, second] = drawingsOf(['gif', 'mov', 'srt']);
  t.match(first, { isTransparent: false, hasColours: true, formats: ['gif', 'srt'] });
  t.match(second, { isTransparent: true, hasColours: true, formats: ['mov'] });
  t.equal(drawingsOf(['gif'])[1], undefined);
});

t.test('formats are known, at most six, and made together with MP4', async (t) => {
  const check = (formats: unknown, isMp4 = true) => checkFormats(formats as JobFormat[], { isMp4 });
  check(['mp4', 'gif']);
  check(['mp4'], false);
  t.throws(() => check(['avi']), {
    code: 'invalid_request',
    message: /no format avi\. Formats: mp4, srt, gif,/,
  });
  t.throws(() => check('gif'), { message: 'formats is a list.' });
  t.throws(() => check(JOB_FORMATS.slice(0, 8)), { message: /more than 6 formats/ });
  t.throws(() => check(['gif'], false), { message: /together with MP4 only/ });
  t.strictSame(othersOf(['gif', 'mp4', 'srt', 'gif']), ['srt', 'gif']);
});
