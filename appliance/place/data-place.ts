import type { AssetStore, DataFolder } from '../../lib/index.ts';
import type { DataFolderEvents, MachineStore } from '../../lib/internal.ts';
import type { PostgresRights } from '../../lib/postgres/index.ts';

/**
 * Where an installation keeps its data: a data folder, or a database that several machines share. Then `path` is a folder
 * of this process alone, for its socket, its lock and renders in progress.
 */
export interface DataPlace
  extends Pick<
    DataFolder,
    | 'path'
    | 'storage'
    | 'ledgerStore'
    | 'accountStore'
    | 'keyStore'
    | 'keyUseStore'
    | 'sessionStore'
    | 'actStore'
    | 'workFolder'
    | 'statistics'
    | 'artifactBytes'
    | 'waitingWork'
    | 'masterKeys'
    | 'alone'
    | 'start'
    | 'stop'
  > {
  /** `flush`: a data folder flushed several commits together. */
  on(event: 'flush', listener: (...flush: DataFolderEvents['flush']) => void): unknown;
  readonly masterKeyFiles: Pick<DataFolder['masterKeyFiles'], 'load' | 'isRotating' | 'begin' | 'finish'>;
  /** Of the service, unless it is configured to keep artifacts elsewhere. */
  readonly assets: AssetStore;
  /** The processes of the installation; undefined where there is only one. */
  readonly machineStore?: MachineStore;
  /** Of the user of the database; undefined in a data folder. */
  rights?(): Promise<PostgresRights>;
  /** How far the clock of this machine is ahead of that of the database, in milliseconds; undefined in a data folder. */
  clockAheadMs?(): Promise<number>;
  /** Rejects when the data was moved to another place, also while the place was being opened. */
  refuseMoved?(): Promise<void>;
}
