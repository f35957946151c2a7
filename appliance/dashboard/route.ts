import type { Request, ResponseToolkit } from '@hapi/hapi';
import type { RemoteAdministration } from '../admin/admin-socket.ts';
import type { Html } from './html.ts';
import type { Viewer } from './sign-in/sessions.ts';

/** Below this path lies everything of the dashboard. */
export const BASE = '/dashboard';

const ANYWHERE = 'http://anywhere.invalid';

/** A page to return to, below {@link BASE}; empty if it is no page of the dashboard. */
export function pathWithin(next: string): string {
  const url = URL.parse(next, ANYWHERE);
  if (url?.origin !== ANYWHERE || !`${url.pathname}/`.startsWith(`${BASE}/`)) return '';
  return url.pathname.slice(BASE.length) + url.search;
}

/** The page with the form that was sent, below {@link BASE}; empty if it is not known. */
export function pageOfForm({ headers }: Pick<Request, 'headers'>): string {
  const { pathname = '', search = '' } = URL.parse(String(headers['referer'])) ?? {};
  return pathWithin(pathname + search);
}

/** A message above a page. */
export interface Note {
  kind: 'good' | 'bad' | 'warn' | '';
  text: string;
}

/** What a form tells the page that it leads to, once: a reload of that page neither repeats the form nor tells it again. */
export interface Told {
  note?: Note;
  /** Secrets that are shown once, by their names. */
  secrets?: Record<string, string>;
}

/** A request of a person, and what its handler may use. */
export interface Visit {
  request: Request;
  h: ResponseToolkit;
  /** The administration as this person may use it. Handlers reach data through it only. */
  admin: RemoteAdministration;
  viewer: Viewer;
  /** URL under which clients reach the service. */
  publicUrl: string;
  /** Base URL of links to artifacts; empty where this server serves them, so that they work under any name of it. */
  assetUrl: string;
  /** The field `csrf` of every form. */
  csrf: string;
  /** By the form that led here; empty after a reload. */
  told: Told;
  /** The fields of the form, as single texts. */
  form: Record<string, string>;
  /** All values of a field of the form, such as of checkboxes with the same name. */
  formValues: (name: string) => string[];
  query: Record<string, string>;
  params: Record<string, string>;
}

/** A request without a session. */
export type PublicVisit = Omit<Visit, 'admin' | 'viewer' | 'told'>;

/** A page, a redirection within the dashboard, or a response made by the handler, with headers that differ from those of pages. A form that changes something redirects; `csrf`: of the session that it began, which is told. */
export type Answer =
  | Html
  | { page: Html; status: number }
  | { to: string; tell?: Told; csrf?: string }
  | { response: object; headers?: Record<string, string> };

/** A route of the dashboard. The wrapper in `dashboard.ts` authenticates, and checks forms, before any handler. */
export type Route = {
  method: 'GET' | 'POST';
  /** Below {@link BASE}. */
  path: string;
  /** The largest form; default 64 KiB. */
  mostBytes?: number;
  /**
   * The body has files: the handler receives it, in turns of their own. The token of forms stands in the query, or in the header
   * `x-csrf-token`, so that it is checked before.
   */
  isUpload?: boolean;
  /** Headers that differ from those of other pages. */
  headers?: Record<string, string>;
} & (
  | { for: 'everyone'; handler: (visit: PublicVisit) => Promise<Answer> }
  | {
      for: 'members' | 'admins';
      handler: (visit: Visit) => Promise<Answer>;
      /** Answers people who are not signed in, whom the sign-in page answers otherwise. */
      strangers?: (visit: PublicVisit) => Promise<Answer>;
    }
);
