import assert from 'node:assert/strict';
import test from 'node:test';
import { fakeRenderService, ledgerSuite } from 'scenepress/testing';
import { FilmBudgets } from './film-budgets.mjs';

const open = async () => ({ subject: new FilmBudgets(100), close: async () => {} });
for (const { title, run } of ledgerSuite(open)) test(title, run);

test('a film without a budget is not rendered', async () => {
  const service = fakeRenderService({ ledger: new FilmBudgets(0) });
  await service.start();
  const enqueued = service.enqueue({ owner: 'film-7', className: 'Main', code: '…' });
  await assert.rejects(enqueued, { code: 'insufficient_credits', message: /Ask its producer/ });
  await service.stop();
});
