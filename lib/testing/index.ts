/** Conformance suites for custom stores and ledgers, and a service that renders nothing. */
import '../node-version.ts';
import '../bundled.ts';

export { accountStoreSuite } from './accounts.ts';
export { actStoreSuite } from './acts.ts';
export { assetStoreSuite } from './asset-store.ts';
export { deliveriesSuite } from './deliveries.ts';
export { deliveryClaimsSuite } from './delivery-claims.ts';
export { type FakeRenderServiceOptions, fakeRenderService } from './fake-renderer.ts';
export { keyUseStoreSuite } from './key-uses.ts';
export { keyStoreSuite } from './keys.ts';
export { ledgerSuite } from './ledger.ts';
export { queueSuite } from './queue.ts';
export { sessionStoreSuite } from './sessions.ts';
export { settingsStoreSuite } from './settings.ts';
export { signalsSuite } from './signals.ts';
export { storageSuite } from './storage.ts';
export type { Behaviour, Opened, SuiteOptions } from './suite.ts';
