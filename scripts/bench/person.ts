import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';

/** The password of all people in benchmarks. */
export const PASSWORD = 'a password of the benchmark';

/** A user who is signed in to the dashboard. */
export class Person {
  readonly #port: number;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  readonly #cookies = new Map<string, string>();

  readonly email: string;

  private constructor(port: number, email: string) {
    this.#port = port;
    this.email = email;
  }

  static async signIn(port: number, email: string): Promise<Person> {
    const person = new Person(port, email);
    const csrf = await person.csrfOf('/sign-in');
    const fields = new URLSearchParams({ csrf, email, password: PASSWORD });
    const response = await person.open('/sign-in', fields.toString());
    await text(response);
    if (response.statusCode !== 303) throw new Error(`${email} can't sign in: ${response.statusCode}`);
    return person;
  }

  async get(path: string): Promise<{ status: number; body: string }> {
    const response = await this.open(path);
    return { status: response.statusCode ?? 0, body: await text(response) };
  }

  /** The field that forms of this session need, from a page with a form. */
  async csrfOf(path: string): Promise<string> {
    return /name="csrf" value="([^"]+)"/.exec((await this.get(path)).body)?.[1] ?? '';
  }

  async open(path: string, form?: string): Promise<IncomingMessage> {
    const cookie = Array.from(this.#cookies, ([name, value]) => `${name}=${value}`).join('; ');
    const sent = request({
      host: '127.0.0.1',
      port: this.#port,
      path: `/dashboard${path}`,
      method: form === undefined ? 'GET' : 'POST',
      agent: this.#agent,
      headers: {
        cookie,
        ...(form !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
    });
    sent.end(form);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    for (const line of response.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.#cookies.set(name, value);
    }
    return response;
  }
}
