import type { Request, Server } from '@hapi/hapi';

const FORWARDED_HOST = /^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;

/** An IPv6 address with a zone and a port; a proxy that passes on more is believed this far. */
const LONGEST_ADDRESS = 80;

/** What every link begins with. */
export interface Addresses {
  publicUrl(request?: Request): string;
  assetUrl(request?: Request): string;
}

/**
 * The configured addresses, else the address listened on. Nothing a client says has a part in it, unless a proxy is
 * trusted to say it: then `X-Forwarded-Proto` and `X-Forwarded-Host` make the address that isn't configured.
 */
export function addressesOf(
  config: { publicUrl?: string | undefined; assetUrl?: string | undefined; trustProxy: boolean },
  server: () => Server,
): Addresses {
  const publicUrl = (request?: Request) =>
    config.publicUrl ??
    (config.trustProxy && request ? forwardedUrl(request) : undefined) ??
    listeningUrl(server());
  return { publicUrl, assetUrl: (request) => config.assetUrl ?? publicUrl(request) };
}

/** What links to artifacts begin with while nothing listens. */
export function configuredAssetUrl(config: {
  host: string;
  port: number;
  publicUrl?: string | undefined;
  assetUrl?: string | undefined;
  tlsCert?: string | undefined;
}): string {
  const protocol = config.tlsCert === undefined ? 'http' : 'https';
  return config.assetUrl ?? config.publicUrl ?? `${protocol}://${config.host}:${config.port}`;
}

/** The client's address: what a trusted proxy says last, else the connection's. */
export function remoteAddressOf(request: Request, trustProxy: boolean): string {
  const forwarded = trustProxy ? header(request, 'x-forwarded-for')?.split(',').at(-1)?.trim() : undefined;
  return forwarded?.slice(0, LONGEST_ADDRESS) || request.info.remoteAddress;
}

/** The address that this machine reaches the server at. */
export function listeningUrl(server: Server): string {
  const { address, port, protocol } = server.info;
  const everywhere = address === '0.0.0.0' || address === '::' || address === undefined;
  const host = everywhere ? 'localhost' : address.includes(':') ? `[${address}]` : address;
  return `${protocol}://${host}:${port}`;
}

function forwardedUrl(request: Request): string | undefined {
  const protocol = header(request, 'x-forwarded-proto');
  const host = header(request, 'x-forwarded-host');
  if (!host || !FORWARDED_HOST.test(host) || (protocol !== 'http' && protocol !== 'https')) return undefined;
  return `${protocol}://${host}`;
}

function header(request: Request, name: string): string | undefined {
  const value: unknown = request.headers[name];
  return typeof value === 'string' ? value.trim() : undefined;
}
