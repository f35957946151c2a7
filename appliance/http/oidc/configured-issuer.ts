import { readFile } from 'node:fs/promises';
import type { Config } from '../../config/config.ts';
import { UserError } from '../../support/user-error.ts';
import type { IssuerAddress } from './issuer-documents.ts';

/** The configured issuer; undefined without one. Error: when the file of its authorities has none. */
export async function configuredIssuer({
  oidcIssuer: issuer,
  oidcCa,
}: Pick<Config, 'oidcIssuer' | 'oidcCa'>): Promise<IssuerAddress | undefined> {
  if (issuer === undefined) return undefined;
  if (oidcCa === undefined) return { issuer };
  const authorities = await readFile(oidcCa, 'utf8').catch((cause: Error) => {
    throw new UserError(`The CA certificates for the issuer can't be read: ${cause.message}.`, { cause });
  });
  if (authorities.includes('-----BEGIN CERTIFICATE-----')) return { issuer, authorities };
  throw new UserError(`${oidcCa} (oidcCa) contains no PEM certificate.`);
}
