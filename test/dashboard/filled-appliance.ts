import { join } from 'node:path';
import type { Test } from 'tap';
import { type PeopledAppliance, peopledAppliance } from './browser.ts';

const INSTANT_PYTHON = join(import.meta.dirname, '../fixtures/instant-renderer/bin/python');
/** Tries to run in every field that a person or a scene can fill. */
const EVIL = `"><img src=x onerror="document.title='hacked'"><script>document.title='hacked'</script>`;

export interface FilledAppliance extends PeopledAppliance {
  /** Of pages that an administrator may see, below `/dashboard`. */
  paths: string[];
  /** The path of a completed job. */
  job: string;
  keyId: string;
}

/** Pages with something of every kind on them. */
export async function filledAppliance(t: Test): Promise<FilledAppliance> {
  const appliance = await peopledAppliance(t, { python: INSTANT_PYTHON, insecureNoSandbox: true });
  const { admin, member, installation, service } = appliance;
  const { administration } = installation;
  const { accountId } = await installation.accounts.find(admin);
  const { accountId: memberId } = await installation.accounts.find(member);
  const { keyId } = await administration.keys.create({ account: admin, name: EVIL.slice(0, 100) });
  const revoked = await administration.keys.create({
    account: admin,
    name: 'Old',
    webhookUrl: 'https://hooks.example.org/',
  });
  await administration.keys.revoke({ keyId: revoked.keyId });
  const file = async (name: string, text: string) => {
    const content = (async function* () {
      yield Buffer.from(text);
    })();
    return (await administration.files.put({ account: admin, name, content })).fileId;
  };
  const drawing = await file('brand/logo.svg', '<svg xmlns="http://www.w3.org/2000/svg"></svg>');
  const table = await file(`${EVIL.replaceAll(/[\s<>"|?*:/\\]/g, '_')}.csv`, EVIL);
  const request = { owner: accountId, keyId, className: 'Hello' };
  const evil = {
    metadataJson: JSON.stringify({ text: EVIL }),
    webhook: { url: 'https://hooks.example.invalid/', secret: 'whsec_1' },
  };
  const done = await service.enqueue({ ...request, ...evil, code: `print(1) # ${EVIL}\n`.repeat(30) });
  const failed = await service.enqueue({ ...request, code: `fail ${EVIL}` });
  const { sceneId } = await administration.scenes.create({
    account: admin,
    name: EVIL,
    code: `print(1) # ${EVIL}\n`.repeat(30),
    className: 'Hello',
    settings: { quality: 'low' },
  });
  const version = await administration.scenes.render({ sceneId });
  await Promise.all([done, failed, version.job].map(({ jobId }) => service.wait(jobId)));
  await administration.scenes.save({ sceneId, revision: 1, code: `print(2) # ${EVIL}\n` });
  const second = await service.enqueue({ ...request, code: 'print(2)', title: EVIL });
  await service.wait(second.jobId);
  const running = await service.enqueue({ ...request, code: 'linger' });
  await administration.queue.pause();
  const forgotten = await service.enqueue({ ...request, code: 'x' });
  await service.cancel(forgotten.jobId);
  await service.forget(forgotten.jobId);
  const [delivery] = await service.deliveries.list({ jobId: done.jobId });
  const share = async (jobIds: string[], title: string | null = null) =>
    (await service.shares.create({ owner: accountId, jobIds, title, description: EVIL })).shareId;
  const shared = await share([done.jobId], EVIL);
  const playlist = await share([second.jobId, done.jobId]);
  const ended = await share([done.jobId], 'Ended');
  await service.shares.revoke(ended);
  const { classLinkId, token: joins } = await administration.classLinks.create({
    ...{ account: admin, name: EVIL, seats: 2, creditsPerSeat: 5 },
  });
  await installation.classLinks.join(joins, {
    email: 'joined@example.org',
    password: 'a password of joined',
  });
  const assign = async (title: string) =>
    administration.assignments.create({
      ...{ account: admin, scene: sceneId, title, instructions: EVIL, classLink: classLinkId },
    });
  const assigned = await assign(EVIL);
  const opened = await assign('Opened');
  const copy = await administration.assignments.open({ account: admin, token: opened.token });
  const job = `/jobs/${done.jobId}`;
  const paths = [
    '',
    '/playground',
    `/playground?job=${done.jobId}`,
    `/playground?job=${failed.jobId}`,
    `/playground?job=${running.jobId}`,
    `/playground?job=${forgotten.jobId}`,
    '/jobs',
    '/jobs?status=canceled',
    `/jobs?error=${encodeURIComponent(EVIL.slice(EVIL.indexOf('<script')))}&from=2026-01-01T00:00&quality=low`,
    '/jobs?error=as+it+was+told',
    '/jobs?from=yesterday',
    '/jobs?status=queued&account=member@example.org',
    job,
    `/jobs/${failed.jobId}`,
    `/jobs/${running.jobId}`,
    `/jobs/${forgotten.jobId}`,
    `${job}/forget`,
    `/jobs/${second.jobId}`,
    '/shares',
    `/shares?job=${done.jobId}`,
    '/shares?account=member@example.org',
    `/shares/${shared}`,
    `/shares/${shared}/revoke`,
    `/shares/${playlist}`,
    `/shares/${ended}`,
    `/shares/${ended}/remove`,
    '/assignments',
    '/assignments?account=member@example.org',
    `/assignments/new?scene=${sceneId}`,
    `/assignments/${assigned.assignmentId}`,
    `/assignments/${assigned.assignmentId}/revoke`,
    `/assignments/${assigned.assignmentId}/remove`,
    `/class-links/${classLinkId}`,
    `/class-links/${classLinkId}/revoke`,
    `/class-links/${classLinkId}/remove`,
    `/a/${assigned.token}`,
    `/a/${'A'.repeat(24)}`,
    `/join/${joins}`,
    `/playground?scene=${copy.sceneId}`,
    '/files',
    '/files?folder=brand',
    '/files?account=member@example.org',
    `/files/${drawing}`,
    `/files/${table}`,
    `/files/${table}/remove`,
    '/scenes',
    '/scenes?account=member@example.org',
    `/scenes/${sceneId}`,
    `/scenes/${sceneId}/diff?from=d1`,
    `/scenes/${sceneId}/diff`,
    `/scenes/${sceneId}/compare`,
    `/scenes/${sceneId}/compare?left=1&right=1`,
    `/jobs/${version.job.jobId}`,
    `/scenes/${sceneId}/remove`,
    `/playground?scene=${sceneId}`,
    '/keys',
    '/keys/new',
    `/keys/${keyId}`,
    `/keys/${keyId}/revoke`,
    `/keys/${revoked.keyId}`,
    '/keys?account=member@example.org',
    '/credits',
    '/credits?days=365',
    '/credits?quality=fourk&seconds=3.5',
    '/account',
    '/account/two-factor',
    '/accounts',
    '/accounts?q=nobody',
    `/accounts/${accountId}`,
    `/accounts/${memberId}`,
    `/accounts/${memberId}/delete`,
    '/acts',
    '/service',
    '/webhooks',
    '/webhooks?state=failed',
    `/webhooks?key=${keyId}`,
    '/webhooks/test',
    `/webhooks/${delivery?.deliveryId}`,
    '/nothing-here',
  ];
  return { ...appliance, paths, job, keyId };
}
