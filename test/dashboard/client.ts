import type { Test } from 'tap';
import { type Answer, send } from '../appliance/listening-appliance.ts';
import { PASSWORD } from './browser.ts';

/** A browser without scripts: keeps cookies, and fills forms. */
export class Client {
  readonly #port: number;
  readonly cookies: Map<string, string> = new Map();
  /** The headers that set cookies, of the last answer. */
  setCookies: string[] = [];
  /** Sent with each request. */
  readonly headers: Record<string, string> = {};

  constructor(port: number) {
    this.#port = port;
  }

  async get(path: string): Promise<Answer> {
    return this.#exchange('GET', path);
  }

  /** Posts a form with the `csrf` field of a page. */
  async post(
    path: string,
    fields: Record<string, string | string[]>,
    { from = '/dashboard/account' }: { from?: string } = {},
  ): Promise<Answer> {
    const csrf = /name="csrf" value="([^"]+)"/.exec((await this.get(from)).text)?.[1] ?? '';
    return this.postAsIs(path, { csrf, ...fields });
  }

  /** Posts a form, and follows its redirection. */
  async submit(path: string, fields: Record<string, string | string[]>): Promise<Answer> {
    const answer = await this.post(path, fields);
    return answer.status === 303 ? this.get(String(answer.headers.location)) : answer;
  }

  async postAsIs(path: string, fields: Record<string, string | string[]>): Promise<Answer> {
    const pairs = Object.entries(fields).flatMap(([name, value]) =>
      [value].flat().map((one): [string, string] => [name, one]),
    );
    return this.#exchange('POST', path, new URLSearchParams(pairs).toString(), {
      'content-type': 'application/x-www-form-urlencoded',
    });
  }

  /** The token of the forms of this session. */
  async csrf(): Promise<string> {
    return /name="csrf" value="([^"]+)"/.exec((await this.get('/dashboard/account')).text)?.[1] ?? '';
  }

  /** Posts a form with files. */
  async postFiles(path: string, form: FormData): Promise<Answer> {
    const encoded = new Response(form);
    const type = String(encoded.headers.get('content-type'));
    return this.postBytes(path, Buffer.from(await encoded.arrayBuffer()), { 'content-type': type });
  }

  async postBytes(path: string, body: Buffer, headers: Record<string, string>): Promise<Answer> {
    return this.#exchange('POST', path, body, headers);
  }

  async signIn(email: string, password: string = PASSWORD): Promise<Answer> {
    return this.post('/dashboard/sign-in', { email, password }, { from: '/dashboard/sign-in' });
  }

  async #exchange(
    method: string,
    path: string,
    body?: string | Buffer,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const cookie = Array.from(this.cookies, ([name, value]) => `${name}=${value}`).join('; ');
    const answer = await send(this.#port, path, {
      method,
      headers: {
        ...(cookie && { cookie }),
        ...this.headers,
        ...headers,
      },
      ...(body !== undefined && { body }),
    });
    this.setCookies = answer.headers['set-cookie'] ?? [];
    for (const line of this.setCookies) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/Max-Age=0/.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return answer;
  }
}

/** A signed-in client. */
export async function signedIn(t: Test, port: number, email: string): Promise<Client> {
  const client = new Client(port);
  t.equal((await client.signIn(email)).status, 303, `${email} signs in`);
  return client;
}
