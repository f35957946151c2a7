import type {
  Accounts,
  ApiKeys,
  MasterKeys,
  RenderService,
  StoredLedger,
  UnmeteredLedger,
} from '../../lib/index.ts';
import type { ClassLinks, ScheduledBackups, TwoFactor } from '../../lib/internal.ts';
import type { Readiness } from '../http/health.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { DataPlace } from '../place/data-place.ts';
import type { Faults } from '../support/faults.ts';
import { AccountAdministration } from './accounts.ts';
import { ActAdministration } from './act-list.ts';
import type { Acts } from './acts.ts';
import type { Prices } from './administration-views.ts';
import { AssignmentAdministration } from './assignments.ts';
import { ClassLinkAdministration } from './class-links.ts';
import { CreditAdministration } from './credits.ts';
import { DataAdministration } from './data.ts';
import { DeliveryAdministration } from './deliveries.ts';
import { FileAdministration } from './files.ts';
import { JobAdministration } from './jobs.ts';
import { KeyAdministration } from './keys.ts';
import { MachineAdministration } from './machines.ts';
import { QueueAdministration } from './queue.ts';
import { SceneAdministration } from './scenes.ts';
import type { RetentionInfo } from './service-views.ts';
import { ShareAdministration } from './shares.ts';
import { TwoFactorAdministration } from './two-factor.ts';

export interface AdministrationParts {
  accounts: Accounts;
  acts: Acts;
  classLinks: ClassLinks;
  keys: ApiKeys;
  ledger: StoredLedger | UnmeteredLedger;
  service: RenderService;
  place: DataPlace;
  /** The database or folder, for people. */
  placeName: string;
  /** Base URL of links to artifacts. */
  assetUrl: () => string;
  metrics: Metrics;
  /** Base URL of the dashboard. */
  publicUrl: () => string;
  masterKeys: MasterKeys;
  twoFactor: TwoFactor;
  /** The prices of renders; undefined where they cost nothing. */
  prices: Prices | undefined;
  /** As reported by `/health/ready`. */
  readiness: () => Readiness;
  /** The latest warnings and errors. */
  faults: Faults;
  /** Maximum duration of a render. */
  renderTimeoutSeconds: number;
  /** How long artifacts are kept. */
  retention: RetentionInfo;
  /** Undefined if no backups are scheduled. */
  backups: ScheduledBackups | undefined;
}

/**
 * Administrative operations, by noun. Every public method of these parts is also an operation of the command line and
 * of the dashboard, which use them through {@link administrationFor}: it takes one object of plain data, or nothing, and resolves with plain data.
 * Exceptions are the operations with streams, which the command line does not have.
 */
export class Administration {
  readonly accounts: AccountAdministration;
  readonly twoFactor: TwoFactorAdministration;
  readonly keys: KeyAdministration;
  readonly deliveries: DeliveryAdministration;
  readonly queue: QueueAdministration;
  readonly jobs: JobAdministration;
  readonly files: FileAdministration;
  readonly scenes: SceneAdministration;
  readonly shares: ShareAdministration;
  readonly assignments: AssignmentAdministration;
  readonly classLinks: ClassLinkAdministration;
  readonly credits: CreditAdministration;
  readonly acts: ActAdministration;
  readonly machines: MachineAdministration;
  readonly data: DataAdministration;

  constructor(parts: AdministrationParts) {
    this.accounts = new AccountAdministration(parts);
    this.twoFactor = new TwoFactorAdministration(parts);
    this.keys = new KeyAdministration(parts);
    this.deliveries = new DeliveryAdministration(parts);
    this.queue = new QueueAdministration(parts);
    this.jobs = new JobAdministration(parts);
    this.files = new FileAdministration(parts);
    this.scenes = new SceneAdministration(parts);
    this.shares = new ShareAdministration(parts);
    this.assignments = new AssignmentAdministration(parts);
    this.classLinks = new ClassLinkAdministration(parts);
    this.credits = new CreditAdministration(parts);
    this.acts = new ActAdministration(parts);
    this.machines = new MachineAdministration(parts);
    this.data = new DataAdministration(parts);
  }
}
