import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import type { ArtifactName } from '../../lib/index.ts';
import { ARTIFACTS, ScenepressError } from '../../lib/internal.ts';
import { byteRangeOf, HttpRejection } from '../../lib/web/index.ts';
import { texts } from '../dashboard/language/texts.ts';
import { chaptersVtt } from './chapters.ts';
import { filesOf, keptName, type ShownVideo, type WatchService } from './shown-video.ts';

/** The list of chapters, beside the artifacts. */
export const CHAPTERS_FILE = 'chapters.vtt';

/** Frames in a sandbox have no origin, so that files are readable by all; who knows the link may read them. */
const HEADERS: Record<string, string> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'Accept-Ranges, Content-Length, Content-Range, ETag',
  'cross-origin-resource-policy': 'cross-origin',
  'cache-control': 'private, no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "sandbox; default-src 'none'",
};

/** Answers with a file of a shared video, which never names the job: it is passed on, wherever it is stored. */
export async function mediaAnswer(
  service: WatchService,
  video: ShownVideo,
  name: string,
  { request, h, isKept }: { request: Request; h: ResponseToolkit; isKept: boolean },
): Promise<ResponseObject> {
  if (name === CHAPTERS_FILE && video.chapters.length > 0)
    return withHeaders(h.response(chaptersVtt(video.chapters)), {
      'content-type': 'text/vtt; charset=utf-8',
    });
  const artifact = video.job.artifacts.find((artifact) => artifact.name === name);
  if (!artifact || !filesOf(video).includes(artifact.name))
    throw new ScenepressError('not_found', 'There is no such file under this link.');
  const etag = `"${createHash('sha256').update(`${video.share.shareId} ${artifact.assetKey}`).digest('hex').slice(0, 32)}"`;
  const { range: asked, 'if-range': ifRange } = request.raw.req.headers;
  const wholeOnly = ifRange !== undefined && String(ifRange) !== etag;
  const range = wholeOnly ? undefined : byteRangeOf(asked, artifact.sizeBytes);
  if (range === 'unsatisfiable')
    throw new HttpRejection(
      416,
      { error: 'Requested Range Not Satisfiable', message: 'The file ends before this range.' },
      { 'content-range': `bytes */${artifact.sizeBytes}` },
    );
  const opened = await service.openArtifact(video.job.jobId, artifact.name, range ? { range } : {});
  const response = h.response(opened.stream as Readable).code(range ? 206 : 200);
  response.bytes(range ? range.end - range.start + 1 : opened.sizeBytes);
  return withHeaders(response, {
    'content-type': opened.contentType,
    etag,
    'accept-ranges': 'bytes',
    ...(range && { 'content-range': `bytes ${range.start}-${range.end}/${opened.sizeBytes}` }),
    ...((isKept || !isPlayed(artifact.name)) && { 'content-disposition': attachment(video, artifact.name) }),
  });
}

/** Shown or played by pages; others are saved. */
function isPlayed(name: ArtifactName): boolean {
  return /^(?:video|audio|image|text\/vtt)\b/.test(ARTIFACTS[name].contentType);
}

function attachment(video: ShownVideo, name: ArtifactName): string {
  const kept = keptName(video, name, texts().watch.untitled);
  const plain = kept.replace(/[^A-Za-z0-9.-]+/g, '_');
  return `attachment; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(kept)}`;
}

function withHeaders(response: ResponseObject, headers: Record<string, string>): ResponseObject {
  for (const [name, value] of Object.entries({ ...HEADERS, ...headers })) response.header(name, value);
  return response;
}
