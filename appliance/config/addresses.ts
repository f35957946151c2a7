import type { Request, Server } from '@hapi/hapi';

const FORWARDED_HOST = /^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;

/** Enough for an IPv6 address with zone and port; longer values of a proxy are truncated. */
const LONGEST_ADDRESS = 80;

/** Base URLs of links. */
export interface Addresses {
  publicUrl(request?: Request): string;
  assetUrl(request?: Request): string;
}

/**
 * The configured URLs, else the listening address. Request headers are ignored unless a proxy is trusted: then
 * `X-Forwarded-Proto` and `X-Forwarded-Host` replace a public URL that isn't configured.
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

/** Base URL of links to artifacts while no server is listening. */
export function configuredAssetUrl(config: {
  host: string;
  port: number;
  publicUrl?: string | undefined;
  assetUrl?: string | undefined;
  tlsCert?: string | undefined;
}): string {
  return config.assetUrl ?? configuredPublicUrl(config);
}

/** Base URL of the dashboard while no server is listening. */
export function configuredPublicUrl(config: {
  host: string;
  port: number;
  publicUrl?: string | undefined;
  tlsCert?: string | undefined;
}): string {
  const protocol = config.tlsCert === undefined ? 'http' : 'https';
  return config.publicUrl ?? `${protocol}://${config.host}:${config.port}`;
}

/** The client's address: the last one in a trusted proxy's `X-Forwarded-For`, else the connection's. */
export function remoteAddressOf(request: Request, trustProxy: boolean): string {
  const forwarded = trustProxy ? header(request, 'x-forwarded-for')?.split(',').at(-1)?.trim() : undefined;
  return forwarded?.slice(0, LONGEST_ADDRESS) || request.info.remoteAddress;
}

/** The URL under which this machine reaches the server. */
export function listeningUrl(server: Server): string {
  const { address, port, protocol } = server.info;
  const everywhere = address === '0.0.0.0' || address === '::' || address === undefined;
  return everywhere ? `${protocol}://localhost:${port}` : boundUrl(server);
}

/** The address and the port that the server listens on; the address may be `0.0.0.0`. */
export function boundUrl(server: Server): string {
  const { address = 'localhost', port, protocol } = server.info;
  return `${protocol}://${address.includes(':') ? `[${address}]` : address}:${port}`;
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
