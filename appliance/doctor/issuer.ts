import type { Config } from '../config/config.ts';
import { configuredIssuer } from '../http/oidc/configured-issuer.ts';
import { keysOfIssuer } from '../http/oidc/issuer-documents.ts';
import { type Finding, failed, ok, warning } from './finding.ts';

const CHECK = 'Access tokens';
const LOOPBACK = /^(localhost|127\.[\d.]+|\[::1\])$/;

/** Checks that the issuer of access tokens can be asked for its keys; undefined without one. */
export async function examineIssuer(config: Config): Promise<Finding | undefined> {
  const { oidcIssuer: issuer, oidcAudience, publicUrl } = config;
  if (issuer === undefined) return undefined;
  try {
    const address = await configuredIssuer(config);
    const { keys } = address ? await keysOfIssuer(address) : { keys: [] };
    if (keys.length === 0)
      return failed(CHECK, `${issuer} has no keys`, 'Let the issuer sign its tokens with a key pair.');
  } catch (error) {
    const remedy = 'Check --oidc-issuer and, for a certificate authority of your own, --oidc-ca.';
    return failed(CHECK, `the keys of ${issuer} can't be had: ${(error as Error).message}`, remedy);
  }
  const { protocol, hostname } = new URL(issuer);
  if (protocol === 'http:' && !LOOPBACK.test(hostname))
    return warning(
      CHECK,
      `the keys of ${issuer} are fetched without TLS, so that others in the network can replace them`,
      'Let the issuer use HTTPS; a certificate authority of your own is named with --oidc-ca.',
    );
  if (oidcAudience === undefined && publicUrl === undefined)
    return warning(
      CHECK,
      `tokens of ${issuer} are accepted for the listening address only`,
      'Set --public-url, or name their audience with --oidc-audience.',
    );
  return ok(CHECK, `tokens of ${issuer} are accepted for ${oidcAudience ?? `${publicUrl}/mcp`}`);
}
