import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { AssetStore, MasterKeys } from '../../lib/index.ts';
import {
  type AccountStore,
  type ActStore,
  DATA_FILES,
  type DataStatistics,
  FolderLock,
  isScenepressError,
  type KeyStore,
  type KeyUseStore,
  type LedgerStore,
  type MachineStore,
  type MasterKeyOptions,
  ScenepressError,
  type SessionStore,
  type WaitingWork,
} from '../../lib/internal.ts';
import type { PostgresRights, PostgresStorage } from '../../lib/postgres/index.ts';
import { UserError } from '../support/user-error.ts';
import type { DataPlace } from './data-place.ts';

/** An installation in a database, and the folder of this process. */
export class DatabasePlace implements DataPlace {
  readonly path: string;
  readonly storage: PostgresStorage;
  readonly assets: AssetStore;
  readonly machineStore: MachineStore;
  readonly ledgerStore: LedgerStore;
  readonly accountStore: AccountStore;
  readonly keyStore: KeyStore;
  readonly keyUseStore: KeyUseStore;
  readonly sessionStore: SessionStore;
  readonly actStore: ActStore;
  readonly masterKeyFiles: DataPlace['masterKeyFiles'];
  readonly #lock: FolderLock | undefined;
  readonly #movedTo: string | undefined;

  /**
   * `ownsFolder`: false for a command, which needs no folder of its own. `movedTo`: a place to which the data may have been
   * moved already.
   */
  constructor(
    path: string,
    {
      storage,
      assets,
      ownsFolder,
      movedTo,
    }: { storage: PostgresStorage; assets: AssetStore; ownsFolder: boolean; movedTo?: string },
  ) {
    this.path = path;
    this.#movedTo = movedTo;
    this.storage = storage;
    this.assets = assets;
    this.machineStore = storage.machineStore;
    this.ledgerStore = storage.ledgerStore;
    this.accountStore = storage.accountStore;
    this.keyStore = storage.keyStore;
    this.keyUseStore = storage.keyUseStore;
    this.sessionStore = storage.sessionStore;
    this.actStore = storage.actStore;
    this.masterKeyFiles = storage.masterKey;
    this.#lock = ownsFolder ? new FolderLock(path) : undefined;
  }

  /** Emits nothing: the database groups commits itself. */
  on(): void {}

  get workFolder(): string {
    return join(this.path, DATA_FILES.work);
  }

  /** Errors: `storage_locked` when another process has the folder; {@link UserError} for an unusable database. */
  async start(): Promise<void> {
    if (this.#lock) {
      this.#refuseData();
      await mkdir(this.path, { recursive: true, mode: 0o700 });
      await this.#lock.acquire();
    }
    try {
      await this.storage.start();
      await this.refuseMoved();
    } catch (error) {
      await this.storage.stop();
      this.#lock?.release();
      throw explained(error);
    }
  }

  async stop(): Promise<void> {
    this.storage.masterKey.close();
    await this.storage.stop();
    this.#lock?.release();
  }

  masterKeys(options: MasterKeyOptions = {}): Promise<MasterKeys> {
    return this.storage.masterKey.load(options);
  }

  async statistics(): Promise<DataStatistics> {
    return { databaseBytes: await this.storage.databaseBytes(), logBytes: 0, documentBytes: 0 };
  }

  rights(): Promise<PostgresRights> {
    return this.storage.rights();
  }

  clockAheadMs(): Promise<number> {
    return this.storage.clockAheadMs();
  }

  artifactBytes(): Promise<number> {
    return this.storage.artifactBytes();
  }

  waitingWork(): Promise<WaitingWork[]> {
    return this.storage.waitingWork();
  }

  /** Error: `conflict` while another process does it. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    const done = await this.storage.alone('master key', async () => ({ result: await work() }));
    if (done) return done.result;
    throw new ScenepressError('conflict', 'Another process is replacing the master key.');
  }

  async refuseMoved(): Promise<void> {
    const target = await this.storage.movedTo();
    if (target === undefined || target === this.#movedTo) return;
    throw new UserError(
      `The data in this database was moved to ${target} and is out of date here. Start the service with that folder. To ` +
        'use the database as it was then, run in its schema: DELETE FROM moved',
    );
  }

  /** Its jobs and accounts would not be those of the service. */
  #refuseData(): void {
    if (!existsSync(join(this.path, DATA_FILES.database)) || existsSync(join(this.path, DATA_FILES.moved)))
      return;
    throw new UserError(
      `${this.path} contains an installation whose data is not in the database. Move it there with ` +
        `\`scenepress migrate --from ${this.path} --to postgres://…\`, or choose another folder for this process with ` +
        '--data-dir or SCENEPRESS_DATA_DIR.',
      { exitCode: 2 },
    );
  }
}

/** Says what to do about a database that can't be used. */
function explained(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (isScenepressError(error, 'not_found'))
    return new UserError(
      `${error.message} Correct --database-url or --database-schema; \`scenepress serve\` and \`scenepress account create\` ` +
        'create it.',
      { cause: error },
    );
  const cause = ((isScenepressError(error) && error.cause) || error) as {
    code?: unknown;
    message?: string;
    detail?: string;
  };
  const remedy = remedyFor(String(cause.code ?? ''), cause.message ?? '', cause.detail ?? '');
  if (remedy === undefined) return error;
  const reason = cause.message === undefined || cause.message === '' ? error.message : cause.message;
  return new UserError(`The database can't be used (${reason}). ${remedy}`, { cause: error });
}

function remedyFor(code: string, message: string, detail: string): string | undefined {
  switch (code) {
    case 'ECONNREFUSED':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ETIMEDOUT':
      return 'Start Postgres, or correct host and port in --database-url or SCENEPRESS_DATABASE_URL.';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'Correct the host in --database-url or SCENEPRESS_DATABASE_URL.';
    case '28P01':
    case '28000':
      return (
        'Give the right user in --database-url, and its password in SCENEPRESS_DATABASE_PASSWORD_FILE, PGPASSWORD or ' +
        'the file PGPASSFILE; pg_hba.conf of the server must let it in.'
      );
    case '3D000':
      return 'Create the database, e.g. with createdb, or correct its name in --database-url.';
    case '53300':
      return (
        'Raise max_connections of the server, or the limit of the role or the database (CONNECTION LIMIT), or let each ' +
        'process open fewer connections: --database-connections or SCENEPRESS_DATABASE_CONNECTIONS.'
      );
    case '42501':
      // The message is the same as for a schema that can't be created.
      if (detail.includes('CONNECT'))
        return 'Let the user of --database-url connect: GRANT CONNECT ON DATABASE … TO …';
      return 'Let the user of --database-url create a schema in the database, or own it.';
  }
  if (/password must be a string|no password supplied/i.test(message))
    return 'It asks for a password: set SCENEPRESS_DATABASE_PASSWORD_FILE, PGPASSWORD or the file PGPASSFILE.';
  if (/timeout|terminated/i.test(message))
    return (
      'Start Postgres, or correct host and port in --database-url or SCENEPRESS_DATABASE_URL. A pooler before it needs as ' +
      'many connections for each process as --database-connections says, and four more.'
    );
  if (/does not support SSL/.test(message))
    return 'Switch TLS on in Postgres (ssl = on). In a private network, SCENEPRESS_DATABASE_TLS=off connects without TLS.';
  if (/certificate|self.signed|SSL|TLS/i.test(message))
    return 'Set SCENEPRESS_DATABASE_CA to the file with its certificate authority; the host of the URL must be in the certificate.';
  return undefined;
}
