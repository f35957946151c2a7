import type { Test } from 'tap';
import type { NewKey } from '../../appliance/admin/administration-views.ts';
import type { TestAuthority } from '../fixtures/certificates.ts';
import { type Answer, type WebhookReceiver, webhookReceiver } from '../fixtures/webhook-receiver.ts';
import { type ListeningAppliance, listeningAppliance, VALID } from './listening-appliance.ts';

export interface DeliveringAppliance extends Omit<ListeningAppliance, 'key'> {
  receiver: WebhookReceiver;
  /** Of the receiver, and default of the key. */
  url: string;
  key: NewKey;
  administration: ListeningAppliance['installation']['administration'];
  /** Creates and cancels a job; returns its id. */
  endJob: (request?: object) => Promise<string>;
}

/** An appliance with a key whose jobs call a receiver, with a certificate of the authority. */
export async function deliveringAppliance(
  t: Test,
  authority: TestAuthority,
  answer?: Answer,
): Promise<DeliveringAppliance> {
  const receiver = await webhookReceiver(t, authority.issue(['127.0.0.1']), answer);
  const appliance = await listeningAppliance(t, {
    webhooksAllowNetworks: ['127.0.0.0/8'],
    webhooksCa: authority.caFile,
  });
  const { service, installation, askAs } = appliance;
  const { administration } = installation;
  const url = `https://127.0.0.1:${receiver.port}/hook`;
  await administration.accounts.create({ email: 'eve@example.org' });
  const key = await administration.keys.create({ account: 'eve@example.org', name: 'Test', webhookUrl: url });
  const endJob = async (request: object = {}) => {
    const body = JSON.stringify({ ...VALID, ...request });
    const { json } = await askAs(key.key, '/api/v2/render', { method: 'POST', body });
    const jobId = String(json['jobId']);
    await service.cancel(jobId);
    return jobId;
  };
  return { ...appliance, receiver, url, key, administration, endJob };
}
