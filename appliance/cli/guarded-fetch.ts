const MIB = 1024 * 1024;
/** Of responses of the API, unless they are streams of events. */
const MOST_OF_AN_ANSWER = 16 * MIB;
const MOST_REDIRECTS = 5;
const REDIRECTS = [301, 302, 303, 307, 308];

/**
 * A `fetch` for a service that is not trusted: it requests only URLs of the `origins`, also when it is redirected, and
 * limits the size of bodies: that of artifacts to `mostBytes`. `onRefusal` gets the reason when it refuses a URL.
 */
export function guardedFetch({
  origins,
  mostBytes,
  onRefusal,
}: {
  origins: ReadonlySet<string>;
  mostBytes: number;
  onRefusal: (reason: Error) => void;
}): typeof globalThis.fetch {
  return async (input, init = {}) => {
    const refuse = (message: string): never => {
      const reason = new Error(message);
      onRefusal(reason);
      throw reason;
    };
    const isOfApi = new Headers(init.headers).has('authorization');
    let url = new URL(String(input));
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects += 1) {
      const refusal = refusalOf(url, origins);
      if (refusal !== undefined) refuse(refusal);
      const response = await fetch(url, { ...init, redirect: 'manual' });
      const location = response.headers.get('location');
      if (location === null || !REDIRECTS.includes(response.status))
        return limited(response, isOfApi ? MOST_OF_AN_ANSWER : mostBytes);
      await response.body?.cancel();
      url = new URL(location, url);
      if (isOfApi) refuse(`it redirects to ${url.href}. If the service is there, name that with --server`);
    }
    return refuse('it redirects again and again');
  };
}

function refusalOf({ origin, protocol }: URL, origins: ReadonlySet<string>): string | undefined {
  if (origins.has(origin)) return undefined;
  if (!/^https?:$/.test(protocol)) return `it sends its files by ${protocol.replace(':', '')}`;
  return `it sends its files from ${origin}. If they belong there: --artifacts ${origin}`;
}

/** The response with a body that ends with an error when it is too large. */
function limited(response: Response, most: number): Response {
  if (!response.body || response.headers.get('content-type')?.startsWith('text/event-stream'))
    return response;
  let bytes = 0;
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        if (bytes <= most) controller.enqueue(chunk);
        else controller.error(new Error(`it sends more than ${Math.round(most / MIB)} MiB`));
      },
    }),
  );
  const { status, statusText, headers } = response;
  return new Response(counted, { status, statusText, headers });
}
