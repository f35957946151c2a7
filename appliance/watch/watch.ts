import type { Lifecycle, Plugin, Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { isScenepressError } from '../../lib/internal.ts';
import { isLogged } from '../../lib/web/index.ts';
import type { Addresses } from '../config/addresses.ts';
import type { Html } from '../dashboard/html.ts';
import { inLanguage, languageOf, texts } from '../dashboard/language/texts.ts';
import { takeBrokenEscapesLiterally } from '../http/broken-escapes.ts';
import { httpErrorOf } from '../http/http-errors.ts';
import { requestIdOf } from '../http/request-id.ts';
import type { Logger } from '../support/log.ts';
import { ASSET_ROUTES } from './assets/assets.ts';
import { mediaAnswer } from './media.ts';
import { oembedAnswer, placeOf } from './oembed.ts';
import { embedPage, noVideoPage, watchPage } from './pages.ts';
import { type ShownVideo, shownVideo, type WatchService } from './shown-video.ts';

/** Options of the plugin {@link watch}. */
export interface WatchOptions {
  service: WatchService;
  addresses: Addresses;
  logger: Logger;
}

const OPTIONS = {
  auth: false,
  // Neither read nor set: pages have no cookies.
  state: { parse: false, failAction: 'ignore' },
  cache: false,
  // hapi's ranges read the whole file and discard most of it.
  response: { ranges: false },
} as const;

/** The pages of shared videos, with their files, for everybody who has the link. */
export const watch: Plugin<WatchOptions> = {
  name: 'scenepress-watch',
  register(server, { service, addresses, logger }) {
    server.ext('onPreResponse', answerErrors(logger), { sandbox: 'plugin' });
    for (const prefix of ['/w/', '/embed/']) takeBrokenEscapesLiterally(server, prefix);
    server.route(ASSET_ROUTES);
    const route = (
      path: string,
      handler: (request: Request, h: ResponseToolkit) => Promise<ResponseObject>,
    ) =>
      server.route({
        method: 'GET',
        path,
        options: OPTIONS,
        handler: (request, h) => inLanguage(languageOf(request), () => handler(request, h)),
      });
    const media = async (request: Request, h: ResponseToolkit) => {
      const { token, place, name } = request.params as Record<string, string>;
      const video = await shownVideo(service, String(token), placeOf(place));
      const isKept = request.query['download'] !== undefined && video.share.allowDownload;
      return indexed(await mediaAnswer(service, video, String(name), { request, h, isKept }), video);
    };
    const page = async (
      request: Request,
      h: ResponseToolkit,
      { pageOf, ancestors }: { pageOf: (video: ShownVideo, base: string) => Html; ancestors: string },
    ) => {
      const video = await shownVideo(service, String(request.params['token']), placeOf(request.query['v']));
      const shown = pageOf(video, addresses.publicUrl(request));
      if (request.method === 'get') service.shares.noteView(video.share.shareId);
      return indexed(sent(h, shown, ancestors), video);
    };
    route('/w/{token}', (request, h) => page(request, h, { pageOf: watchPage, ancestors: "'none'" }));
    route('/embed/{token}', (request, h) => page(request, h, { pageOf: embedPage, ancestors: '*' }));
    route('/w/{token}/{name}', media);
    route('/w/{token}/{place}/{name}', media);
    server.route({
      method: 'GET',
      path: '/oembed',
      options: { ...OPTIONS, cors: { origin: 'ignore' } },
      handler: async (request, h) =>
        h
          .response(await oembedAnswer(service, request.query, addresses.publicUrl(request)))
          .header('Cache-Control', 'no-store')
          .header('X-Content-Type-Options', 'nosniff'),
    });
  },
};

/** Search engines list only what is public. */
function indexed(response: ResponseObject, { share }: ShownVideo): ResponseObject {
  return share.visibility === 'public' ? response : response.header('X-Robots-Tag', 'noindex');
}

function sent(h: ResponseToolkit, page: Html, ancestors: string): ResponseObject {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "media-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${ancestors}`,
  ];
  return h
    .response(page.text)
    .type('text/html')
    .header('Content-Security-Policy', policy.join('; '))
    .header('Cache-Control', 'private, no-store')
    .header('Referrer-Policy', 'no-referrer')
    .header('X-Content-Type-Options', 'nosniff')
    .vary('Accept-Language');
}

/** Errors as pages that say what to do; of oEmbed as JSON. Unknown links don't tell whether there was a video. */
function answerErrors(logger: Logger): Lifecycle.Method {
  return (request, h) => {
    const { response } = request;
    const requestId = requestIdOf(request);
    if (!(response instanceof Error)) {
      response.header('request-id', requestId);
      return h.continue;
    }
    const { status, headers, body } = httpErrorOf(response);
    if (status >= 500 && isLogged(response)) logger.error({ requestId, err: response }, 'request failed');
    const answer =
      request.path === '/oembed'
        ? h.response(body).header('Access-Control-Allow-Origin', '*')
        : inLanguage(languageOf(request), () => {
            const ancestors = request.path.startsWith('/embed/') ? '*' : "'none'";
            return sent(h, errorPage(status, response), ancestors).header('X-Robots-Tag', 'noindex');
          });
    answer.code(status).header('request-id', requestId);
    for (const [name, value] of Object.entries(headers)) answer.header(name, value);
    return answer;
  };
}

function errorPage(status: number, error: Error): Html {
  const words = texts().watch;
  if (isScenepressError(error, 'artifact_gone'))
    return noVideoPage(words.overTitle, [words.over, words.whatToDo]);
  if (status === 404) return noVideoPage(words.noLinkTitle, [words.noLink, words.whatToDo]);
  return noVideoPage(words.faultTitle, [words.fault]);
}
