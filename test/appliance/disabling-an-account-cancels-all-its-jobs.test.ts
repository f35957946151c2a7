import t from 'tap';
import { AccountAdministration } from '../../appliance/admin/accounts.ts';
import type { AdministrationParts } from '../../appliance/admin/administration.ts';
import type { JobListQuery } from '../../lib/index.ts';

t.test('disabling an account cancels all its jobs, few at a time', async (t) => {
  const account = { accountId: 'a', email: 'ada@example.org', createdAtMs: 0 };
  const unfinished = new Map<string, 'queued' | 'running'>();
  for (let id = 0; id < 250; id += 1) unfinished.set(String(id), id < 120 ? 'running' : 'queued');
  let canceling = 0;
  let mostCanceling = 0;
  const service = {
    async list({ owner, status, limit = 50, metadata }: JobListQuery) {
      t.equal(owner, 'a');
      t.equal(metadata, false);
      const found = [...unfinished].filter(([, its]) => its === status);
      return found.slice(0, limit).map(([jobId]) => ({ jobId }));
    },
    async cancel(jobId: string) {
      canceling += 1;
      mostCanceling = Math.max(mostCanceling, canceling);
      await Promise.resolve();
      canceling -= 1;
      unfinished.delete(jobId);
      // Its worker died just now.
      if (jobId === '3') unfinished.set('5', 'queued');
    },
  };
  const accounts = { find: async () => account, disable: async () => account };
  const place = { sessionStore: { removeSessionsOf: async () => 0 } };
  const parts = { accounts, service, place } as unknown as AdministrationParts;
  const { canceledJobs } = await new AccountAdministration(parts).disable({ account: 'a', cancelJobs: true });
  t.equal(unfinished.size, 0);
  t.ok(canceledJobs >= 250);
  t.ok(mostCanceling <= 200);
});
