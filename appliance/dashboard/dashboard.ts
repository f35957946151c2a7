import { clientTimeout, forbidden, notFound } from '@hapi/boom';
import type { Lifecycle, Plugin, Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import { isScenepressError } from '../../lib/internal.ts';
import type { Installation } from '../app/installation.ts';
import { type Addresses, remoteAddressOf } from '../config/addresses.ts';
import type { Config } from '../config/config.ts';
import { httpErrorOf } from '../http/http-errors.ts';
import { requestIdOf } from '../http/request-id.ts';
import type { Logger } from '../support/log.ts';
import { ASSET_ROUTES } from './assets/assets.ts';
import { BackupDownload } from './backup-download.ts';
import { Html, html } from './html.ts';
import { inLanguage, languageOf, texts } from './language/texts.ts';
import { page as pageOf, plainPage, sectionOf } from './layout.ts';
import { LiveEvents } from './live-events.ts';
import { type Answer, BASE, type PublicVisit, pageOfForm, pathWithin, type Route } from './route.ts';
import { routesOf } from './routes.ts';
import { Attempts } from './sign-in/attempts.ts';
import { Cookies } from './sign-in/cookies.ts';
import { Devices } from './sign-in/devices.ts';
import { SecondStep } from './sign-in/second-step.ts';
import { formTokenOf, newToken, Sessions, type Viewer } from './sign-in/sessions.ts';
import { Turns } from './turns.ts';

export interface DashboardOptions {
  config: Pick<Config, 'trustProxy' | 'assetUrl' | 's3Bucket' | 's3Endpoint' | 's3Links' | 'oidcIssuer'>;
  installation: Installation;
  addresses: Addresses;
  logger: Logger;
}

const MOST_BYTES = 64 * 1024;
const SIGN_IN = '/sign-in';
/** Of an account within 15 minutes, by clients with its password: of a million codes, three are right. */
const MOST_WRONG_CODES = 30;
/** More than a browser asks for, also when all of an account's open pages load themselves again. */
const MOST_WAITING = 100;
/** Forms may wait for a worker or a receiver. */
const FORMS_AT_ONCE = 4;
/** They may take a minute. */
const UPLOADS_AT_ONCE = 2;
const UPLOADS_WAITING = 20;
/** The handler limits the size of each file. */
const UNREAD = {
  parse: false,
  output: 'stream',
  override: 'application/octet-stream',
  maxBytes: Number.MAX_SAFE_INTEGER,
} as const;

/** The dashboard, below `/dashboard`. Nothing of it exists for a server that doesn't register it. */
export const dashboard: Plugin<DashboardOptions> = {
  name: 'scenepress-dashboard',
  register(server, options) {
    const { config, installation, addresses, logger } = options;
    const { accounts, place, masterKeys, service, administrationFor } = installation;
    const sessions = new Sessions({ store: place.sessionStore, accounts });
    const cookies = new Cookies(server, {
      signingKey: masterKeys.current.derive('cookies'),
      toldKey: masterKeys.current.derive('told'),
      addresses,
    });
    const devices = new Devices({ signingKey: masterKeys.current.derive('devices') });
    const live = new LiveEvents({ service, sessions });
    const attempts = new Attempts();
    const codeAttempts = new Attempts({ mostOfAccount: MOST_WRONG_CODES });
    const secondStep = new SecondStep({ signingKey: masterKeys.current.derive('second step'), accounts });
    const turns = {
      GET: new Turns({ atOnce: 1, mostWaiting: MOST_WAITING }),
      POST: new Turns({ atOnce: FORMS_AT_ONCE, mostWaiting: MOST_WAITING }),
      upload: new Turns({ atOnce: UPLOADS_AT_ONCE, mostWaiting: UPLOADS_WAITING }),
    };
    const backups = new BackupDownload(place.path);
    void backups.clear();
    const addressOf = (request: Request) => remoteAddressOf(request, config.trustProxy);
    const headers = securityHeaders(config);

    server.ext('onPreStop', () => live.stop());
    /** The signed-in people of requests, whose errors keep the navigation. */
    const viewers = new WeakMap<Request, Viewer>();
    server.ext('onPreResponse', answerErrors(logger, headers, viewers), { sandbox: 'plugin' });
    server.route(ASSET_ROUTES);
    for (const route of routesOf({
      ...installation,
      sessions,
      cookies,
      devices,
      attempts,
      codeAttempts,
      secondStep,
      live,
      backups,
      addressOf,
      oidcIssuer: config.oidcIssuer,
    })) {
      server.route({
        method: route.method,
        path: `${BASE}${route.path}`,
        options: {
          state: { parse: true, failAction: 'ignore' },
          ...(route.method === 'POST' && { payload: route.isUpload ? UNREAD : formOf(route) }),
        },
        handler: (request, h) => inLanguage(languageOf(request), () => visit(route, request, h)),
      });
    }
    server.route({
      method: '*',
      path: `${BASE}/{path*}`,
      options: { state: { parse: true, failAction: 'ignore' } },
      handler: (request) =>
        inLanguage(languageOf(request), async () => {
          await viewerOf(request);
          throw notFound(texts().errors.unknownPage);
        }),
    });

    /** Authenticates, checks the form's origin and calls the handler: the only way to any of them. */
    async function visit(route: Route, request: Request, h: ResponseToolkit) {
      const viewer = await viewerOf(request);
      const sent = { ...headers, ...route.headers };
      const answerPublic = route.for === 'everyone' ? route.handler : viewer ? undefined : route.strangers;
      if (answerPublic) {
        const token = viewer?.token ?? cookies.formTokenIn(request) ?? newToken();
        if (!viewer) cookies.setFormToken(request, h, token);
        const publicVisit = visitOf(route, request, h, token);
        if (viewer && route.path.startsWith(SIGN_IN)) {
          // From another tab, whose form is older than the session.
          const next = publicVisit.form['next'] ?? publicVisit.query['next'] ?? '';
          return respond({ to: pathWithin(next) }, h, sent);
        }
        if (route.for !== 'everyone' && !hasForm(route, publicVisit)) {
          // The session of the form has ended: its page says how to go on.
          return withHeaders(h.redirect(request.path + request.url.search).code(303), sent);
        }
        requireForm(route, publicVisit);
        return respond(await answerPublic(publicVisit), h, sent);
      }
      if (!viewer || route.for === 'everyone') {
        const hadSession = cookies.sessionTokenIn(request) !== undefined;
        return withHeaders(h.redirect(signInPath(request, hadSession)), headers);
      }
      if (route.for === 'admins' && viewer.role !== 'admin') {
        throw forbidden(texts().common.onlyAdministrators);
      }
      const base = visitOf(route, request, h, viewer.token);
      requireForm(route, base);
      const { accountId, role } = viewer;
      const admin = administrationFor({ accountId, isAdmin: role === 'admin', address: addressOf(request) });
      const answer = await turns[route.isUpload ? 'upload' : route.method].run(accountId, () => {
        if (!request.active()) throw clientTimeout(texts().errors.clientHasGone);
        return route.handler({ ...base, viewer, admin, told: cookies.toldTo(request, h, base.csrf) });
      });
      if ('tell' in answer && answer.tell) {
        const { to, tell, csrf = base.csrf } = answer;
        cookies.tell(request, h, { ...tell, to: `${BASE}${to}`, csrf });
      }
      return respond(answer, h, sent);
    }

    function visitOf(route: Route, request: Request, h: ResponseToolkit, token: string): PublicVisit {
      const fields = route.isUpload ? csrfOf(request) : request.payload;
      return {
        request,
        h,
        publicUrl: addresses.publicUrl(request),
        assetUrl: config.assetUrl ?? '',
        csrf: formTokenOf(token),
        form: textsIn(fields),
        formValues: (name) => valuesIn(fields, name),
        query: textsIn(request.query),
        params: textsIn(request.params),
      };
    }

    async function viewerOf(request: Request): Promise<Viewer | undefined> {
      const token = cookies.sessionTokenIn(request);
      const viewer = token === undefined ? undefined : await sessions.find(token);
      if (viewer) viewers.set(request, viewer);
      return viewer;
    }
  },
};

function formOf({ mostBytes = MOST_BYTES }: Route) {
  return { allow: 'application/x-www-form-urlencoded', maxBytes: mostBytes };
}

/** The token of an upload, as the field that other forms have. */
function csrfOf({ headers, query }: Request): { csrf: unknown } {
  return { csrf: headers['x-csrf-token'] ?? query['csrf'] };
}

/** A form of another site has no `csrf` field of this session. */
function requireForm(route: Route, visit: PublicVisit): void {
  if (!hasForm(route, visit)) throw forbidden(texts().errors.anotherSite);
}

function hasForm({ method }: Route, { csrf, form }: PublicVisit): boolean {
  return method !== 'POST' || form['csrf'] === csrf;
}

/** Only single values; of repeated fields the last. */
function textsIn(fields: unknown): Record<string, string> {
  const texts: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries((fields ?? {}) as object)) {
    const text: unknown = Array.isArray(value) ? value.at(-1) : value;
    if (typeof text === 'string') texts[name] = text.toWellFormed();
  }
  return texts;
}

function valuesIn(fields: unknown, name: string): string[] {
  const value: unknown = Object.entries((fields ?? {}) as object).find(([field]) => field === name)?.[1];
  return [value].flat().filter((text) => typeof text === 'string');
}

/** Signing in leads back to the page, or to that with the form, which was not sent. */
function signInPath(request: Request, hadSession: boolean): string {
  const { method, path, url } = request;
  const isForm = method === 'post';
  const next = isForm ? pageOfForm(request) : pathWithin(path + url.search);
  const query = new URLSearchParams({
    ...(next !== '' && { next: `${BASE}${next}` }),
    ...(isForm ? { ended: 'form' } : hadSession && { ended: 'session' }),
  }).toString();
  return `${BASE}${SIGN_IN}${query && `?${query}`}`;
}

function respond(answer: Answer, h: ResponseToolkit, headers: Record<string, string>) {
  if ('response' in answer)
    return withHeaders(answer.response as ResponseObject, { ...headers, ...answer.headers });
  if ('to' in answer) return withHeaders(h.redirect(`${BASE}${answer.to}`).code(303), headers);
  const [page, status] = answer instanceof Html ? [answer, 200] : [answer.page, answer.status];
  return withHeaders(h.response(page.text).type('text/html').code(status), headers);
}

function withHeaders(response: ResponseObject, headers: Record<string, string>): ResponseObject {
  for (const [name, value] of Object.entries(headers)) response.header(name, value);
  return response;
}

/** Scripts, styles and connections are this server's own; artifacts may be served elsewhere. */
function securityHeaders({ assetUrl, ...config }: DashboardOptions['config']): Record<string, string> {
  const origins = [...(assetUrl === undefined ? [] : [new URL(assetUrl).origin]), ...bucketOrigins(config)];
  const media = ["'self'", ...origins].join(' ');
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src data: ${media}`,
    `media-src ${media}`,
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    'Content-Security-Policy': policy.join('; '),
    'Cache-Control': 'no-store',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
  };
}

/** Where links to artifacts are redirected to. */
function bucketOrigins({
  s3Bucket,
  s3Endpoint,
  s3Links,
}: Omit<DashboardOptions['config'], 'assetUrl'>): string[] {
  if (s3Bucket === undefined || s3Links !== 'presigned') return [];
  if (s3Endpoint === undefined) return ['https://*.amazonaws.com'];
  const { origin, protocol, host } = new URL(s3Endpoint);
  return [origin, `${protocol}//${s3Bucket}.${host}`];
}

/** Errors as pages, with the same messages as those of the API. */
function answerErrors(
  logger: Logger,
  headers: Record<string, string>,
  viewers: WeakMap<Request, Viewer>,
): Lifecycle.Method {
  const answer: Lifecycle.Method = (request, h) => {
    const { response } = request;
    const requestId = requestIdOf(request);
    if (!(response instanceof Error)) {
      response.header('request-id', requestId);
      return h.continue;
    }
    const error = httpErrorOf(response);
    if (error.status >= 500 && !isScenepressError(response)) {
      logger.error({ requestId, err: response }, 'request failed');
    }
    const { errors } = texts();
    const { error: name, message } = error.body;
    const summary = errors.statuses[error.status] ?? name;
    const from = request.method === 'post' ? pageOfForm(request) : '';
    const title = message === undefined ? errors.somethingFailed : summary;
    const text = html`<p>${message ?? summary}</p>
<p class="small muted">${errors.request(requestId)}</p>
<p class="actions">${from && html`<a class="button" href="${BASE}${from}">${errors.backToThePage}</a>`}<a class="button" href="${BASE}">${errors.toTheOverview}</a></p>`;
    const viewer = viewers.get(request);
    const page = viewer
      ? pageOf(
          {
            title,
            viewer,
            csrf: formTokenOf(viewer.token),
            section: sectionOf(request.path.slice(BASE.length)),
          },
          html`<section class="card">${text}</section>`,
        )
      : plainPage({ title: message === undefined ? errors.title : summary }, html`<h1>${title}</h1>${text}`);
    const sent = h.response(page.text).type('text/html').code(error.status).header('request-id', requestId);
    for (const [name, value] of Object.entries(error.headers)) sent.header(name, value);
    return withHeaders(sent, headers);
  };
  return function (request, h) {
    return inLanguage(languageOf(request), () => answer.call(this, request, h));
  };
}
