import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { rootCertificates } from 'node:tls';
import type { JSONWebKeySet } from 'jose';

/** Of one document, from the first byte of the request to the last one of the answer. */
const ANSWER_MS = 5_000;
const MOST_BYTES = 256 * 1024;
const MOST_KEYS = 100;

/** Where an issuer is, and which certificate authorities are trusted for it besides the well-known ones (PEM). */
export interface IssuerAddress {
  issuer: string;
  authorities?: string | undefined;
}

/**
 * The keys of an issuer, by its discovery document (OpenID Connect Discovery 1.0). Errors say what is wrong with the
 * issuer, after "it" or its URL.
 */
export async function keysOfIssuer({ issuer, authorities }: IssuerAddress): Promise<JSONWebKeySet> {
  const document = await jsonAt(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, authorities);
  const { issuer: named, jwks_uri: keysUrl } = document;
  if (named !== issuer)
    throw new Error(`its discovery document is of the issuer ${JSON.stringify(named)?.slice(0, 200)}`);
  if (typeof keysUrl !== 'string' || !URL.canParse(keysUrl) || !isAsSafe(keysUrl, issuer))
    throw new Error('its discovery document names no https:// address of its keys');
  const { keys } = await jsonAt(keysUrl, authorities);
  if (!Array.isArray(keys) || keys.length > MOST_KEYS)
    throw new Error(`${keysUrl} is no list of at most ${MOST_KEYS} keys`);
  return { keys };
}

/** Keys that anybody on the way could replace prove nothing. */
function isAsSafe(url: string, issuer: string): boolean {
  const { protocol } = new URL(url);
  return protocol === 'https:' || protocol === new URL(issuer).protocol;
}

async function jsonAt(url: string, authorities: string | undefined): Promise<Record<string, unknown>> {
  const response = await get(url, authorities);
  const { statusCode } = response;
  if (statusCode !== 200) {
    response.destroy();
    throw new Error(`${url} answers ${statusCode}`);
  }
  const value: unknown = parsed(await textOf(response, url), url);
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  throw new Error(`${url} is no JSON object`);
}

/** Redirects are not followed: the response has their status. */
async function get(url: string, authorities: string | undefined): Promise<IncomingMessage> {
  const options = {
    headers: { accept: 'application/json' },
    agent: false as const,
    signal: AbortSignal.timeout(ANSWER_MS),
  };
  return new Promise((resolve, reject) => {
    const message = url.startsWith('https:')
      ? httpsRequest(url, { ...options, ...(authorities && { ca: [...rootCertificates, authorities] }) })
      : httpRequest(url, options);
    message.once('response', resolve);
    message.once('error', (cause: NodeJS.ErrnoException) => {
      const reason = cause.name === 'AbortError' ? `no answer in ${ANSWER_MS / 1000} s` : cause.message;
      reject(new Error(`${url} can't be read: ${reason || cause.code}`, { cause }));
    });
    message.end();
  });
}

async function textOf(response: IncomingMessage, url: string): Promise<string> {
  let text = '';
  response.setEncoding('utf8');
  for await (const chunk of response) {
    text += chunk;
    if (text.length > MOST_BYTES) throw new Error(`${url} is larger than ${MOST_BYTES} bytes`);
  }
  return text;
}

function parsed(text: string, url: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`${url} is no JSON`, { cause });
  }
}
