import { readFile } from 'node:fs/promises';
import type { Config } from '../config/config.ts';
import { UserError } from '../support/user-error.ts';

/** The certificate authorities for webhooks (PEM). Error: when the configured file has none. */
export async function readWebhookAuthorities({
  webhooksCa,
}: Pick<Config, 'webhooksCa'>): Promise<string | undefined> {
  if (webhooksCa === undefined) return undefined;
  const pem = await readFile(webhooksCa, 'utf8').catch((cause: Error) => {
    throw new UserError(`The CA certificates for webhooks can't be read: ${cause.message}.`, { cause });
  });
  if (pem.includes('-----BEGIN CERTIFICATE-----')) return pem;
  throw new UserError(`${webhooksCa} (webhooksCa) contains no PEM certificate.`);
}
