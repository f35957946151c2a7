/** Conformance suites for databases, ledgers and stores of your own, and a service that renders nothing. */
import '../base/node-version.ts';
import '../base/bundled.ts';

export { assetStoreSuite } from './asset-store.ts';
export { type FakeRenderServiceOptions, fakeRenderService } from './fake-renderer.ts';
export { ledgerSuite } from './ledger.ts';
export { signalsSuite } from './signals.ts';
export { sqlDatabaseSuite } from './sql-database.ts';
export type { Behaviour, Opened, SuiteOptions } from './suite.ts';
