import { ScenepressError } from '../../lib/internal.ts';
import { HttpRejection } from '../../lib/web/index.ts';
import { texts } from '../dashboard/language/texts.ts';
import { embedCode, embedUrl, fitted, watchUrl } from '../dashboard/share-links.ts';
import { shownVideo, type WatchService } from './shown-video.ts';

const PATH = /^\/(?:w|embed)\/([\w-]{1,100})\/?$/;
const SMALLEST_PX = 100;

/** Answers the question of another site how it shows a link (https://oembed.com). `base`: the public URL. */
export async function oembedAnswer(
  service: WatchService,
  query: Record<string, unknown>,
  base: string,
): Promise<Record<string, unknown>> {
  const { format = 'json', url } = query;
  if (format !== 'json')
    throw new HttpRejection(501, { error: 'Not Implemented', message: 'Only format=json is answered.' });
  const asked = typeof url === 'string' && url.startsWith(`${base}/`) ? URL.parse(url) : null;
  const [, token] =
    PATH.exec(asked?.pathname.slice(new URL(base).pathname.replace(/\/$/, '').length) ?? '') ?? [];
  if (!asked || token === undefined)
    throw new ScenepressError('not_found', 'url must be the link of a shared video of this service.');
  const place = placeOf(asked.searchParams.get('v') ?? undefined);
  const video = await shownVideo(service, token, place);
  const { share, job } = video;
  const title = video.title ?? texts().watch.untitled;
  const size = fitted(video, {
    widthPx: sizeOf(query['maxwidth']),
    heightPx: sizeOf(query['maxheight']),
  });
  const frame = embedUrl(base, share.token) + (place === 1 ? '' : `?v=${place}`);
  const hasPicture = job.artifacts.some(({ name }) => name === 'thumbnail.jpg');
  return {
    ...{ version: '1.0', type: 'video', title, provider_name: 'Scenepress', provider_url: base },
    html: embedCode(frame, { title, ...size }),
    width: size.widthPx,
    height: size.heightPx,
    ...(hasPicture && {
      thumbnail_url: `${watchUrl(base, share.token)}/${place}/thumbnail.jpg`,
      thumbnail_width: video.widthPx,
      thumbnail_height: video.heightPx,
    }),
  };
}

/** Which video of a playlist, from 1. Error: `not_found` for what is no number. */
export function placeOf(text: unknown): number {
  if (text === undefined) return 1;
  const place = typeof text === 'string' && /^[1-9]\d{0,2}$/.test(text) ? Number(text) : 0;
  if (place === 0) throw new ScenepressError('not_found', 'There is no such video under this link.');
  return place;
}

function sizeOf(text: unknown): number {
  const size = Number(text);
  return text === undefined || !Number.isFinite(size)
    ? Number.POSITIVE_INFINITY
    : Math.max(SMALLEST_PX, size);
}
