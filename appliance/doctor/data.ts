import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { ServiceStatus } from '../../lib/index.ts';
import {
  type BackupsInfo,
  DATA_FILES,
  DOCUMENT_FILES,
  disagreementsOf,
  isScenepressError,
} from '../../lib/internal.ts';
import type { PostgresRights } from '../../lib/postgres/index.ts';
import type { Examination, MachineInfo } from '../admin/service-views.ts';
import type { Config } from '../config/config.ts';
import { optionOf, settingsOf } from '../machines/settings.ts';
import { placeNameOf } from '../place/open-place.ts';
import { type Work, withAdministration } from '../runtime/with-administration.ts';
import { ownCommand } from '../support/command-line.ts';
import { UserError } from '../support/user-error.ts';
import { type Finding, failed, ok, warning } from './finding.ts';
import { examineFuture, isThere } from './future-folder.ts';

const CHECK = 'Data';
const MIB = 1024 * 1024;

/** Result of the examination of the data folder. */
export interface DataReport {
  findings: Finding[];
  /** Whether a running service owns the folder. */
  served: boolean;
  /** Whether there is data that could be read. */
  isReadable: boolean;
  /** Creation time of the newest job; null if unknown. */
  newestMs: number | null;
  /** How far the clock of this machine is ahead of that of the database; null without one. */
  clockAheadMs: number | null;
  /** Null if no backups are scheduled. */
  backups: BackupsInfo | null;
}

/** Examines the data folder or database, through a running service or directly. Neither is created. */
export async function examineData(config: Config): Promise<DataReport> {
  const folder = resolve(config.dataDir);
  const report: DataReport = {
    findings: [],
    served: false,
    isReadable: false,
    newestMs: null,
    clockAheadMs: null,
    backups: null,
  };
  if (config.databaseUrl === undefined) {
    if (!(await isThere(join(folder, DATA_FILES.database)))) {
      report.findings.push(await examineFuture(CHECK, folder, '--data-dir'));
      return report;
    }
    report.findings.push(...(await examineRights(folder)));
    if (report.findings.some(({ status }) => status === 'failed')) return report;
  }
  try {
    const examine: Work<void> = async (admin, { served }) => {
      report.served = served;
      const examination = await admin.data.examine();
      report.newestMs = examination.newestMs;
      report.clockAheadMs = examination.clockAheadMs;
      report.backups = examination.backups;
      report.findings.push(...findingsOf(placeNameOf(config), examination));
      if (examination.rights) report.findings.push(rightsFinding(examination.rights, config));
      const { machines } = await admin.machines.list();
      if (machines) report.findings.push(machinesFinding(machines, config));
      if (config.roles.includes('worker')) report.findings.push(storeFinding(examination));
      if (served) report.findings.push(...serviceFindings(examination.status));
    };
    await withAdministration(config, examine, { examines: true });
    report.isReadable = true;
  } catch (error) {
    if (!isScenepressError(error) && !(error instanceof UserError)) throw error;
    report.findings.push(
      isScenepressError(error.cause, 'not_found') ? withoutData(config) : unreadable(config, error),
    );
  }
  return report;
}

/** Checks that the service, and no other user, can access the folder. */
async function examineRights(folder: string): Promise<Finding[]> {
  const findings: Finding[] = [];
  const ours = process.getuid?.();
  const files = [DATA_FILES.masterKey, ...DOCUMENT_FILES].map((name) => join(folder, name));
  for (const path of [folder, ...files]) {
    const file = await stat(path).catch(() => undefined);
    if (!file) continue; // A master key may come from the configuration.
    if (ours !== 0 && file.uid !== ours) {
      const remedy = `Run the doctor as the service's user, or change the owner: chown -R ${ours} ${folder}`;
      findings.push(failed(CHECK, `${path} belongs to user ${file.uid}`, remedy));
    } else if ((file.mode & exposing(file)) !== 0) {
      const rights = file.isDirectory() ? 'go-rw' : '600';
      findings.push(
        warning(
          CHECK,
          `other users can read or write ${path}`,
          `Restrict it to its owner: chmod ${rights} ${path}`,
        ),
      );
    }
  }
  return findings;
}

/**
 * Permissions that expose data to other users. Search permission on the folder is accepted: without bubblewrap, a
 * service running as root needs it, because its renders run as other users.
 */
function exposing(file: Stats): number {
  return file.isDirectory() ? 0o066 : 0o077;
}

function findingsOf(folder: string, { audit, data, ...examination }: Examination): Finding[] {
  const sizes = `database ${shown(data.databaseBytes + data.logBytes)}, documents ${shown(data.documentBytes)}`;
  const findings = [ok(CHECK, `${folder} can be read: ${sizes}`)];
  for (const userId of examination.halfDeletedAccounts) {
    const remedy = `If no deletion is in progress, run ${ownCommand(`account delete ${userId} --yes`)}`;
    findings.push(warning(CHECK, `the deletion of account ${userId} is incomplete`, remedy));
  }
  if (examination.isRotating) {
    const remedy = `Start the service, which completes the rotation, or run ${ownCommand('master-key rotate')}.`;
    findings.push(warning(CHECK, 'a rotation of the master key is incomplete: both keys are needed', remedy));
  }
  if (audit === null) return findings;
  if (audit.problems.length === 0) return [...findings, ok('Books', 'every balance adds up')];
  const remedy = `Run ${ownCommand('credits audit')}, keep a backup, and compare with an earlier one.`;
  return [...findings, failed('Books', `the audit found ${audit.problems.length} problems`, remedy)];
}

/** A process that has no other role than `worker` runs the code of scenes and nothing that needs accounts. */
function rightsFinding(
  { user, isSuperuser, isOwner, guardedTables }: PostgresRights,
  { roles }: Config,
): Finding {
  const rendersOnly = roles.every((role) => role === 'worker');
  const excess = [
    ...(isSuperuser ? ['is a superuser'] : []),
    ...(isOwner && !roles.includes('upkeep') ? ['may change and remove the tables'] : []),
    ...(rendersOnly && guardedTables.length > 0 ? [`may use ${guardedTables.join(', ')}`] : []),
  ];
  if (excess.length === 0) return ok('Rights', `the database user ${user} has those of its roles`);
  return warning(
    'Rights',
    `the database user ${user} has more than ${roles.join(', ')} needs: it ${excess.join('; it ')}`,
    'Give each role a user of its own: “Rights by role” of appliance/cluster.md has the SQL.',
  );
}

/** A process with this configuration would not be let to work beside machines with another. */
function machinesFinding(machines: MachineInfo[], config: Config): Finding {
  const alive = machines.filter(({ state }) => state !== 'dead');
  const disagreements = disagreementsOf(settingsOf(config), alive);
  if (disagreements.length === 0) return ok('Machines', `${alive.length} alive, with the same settings`);
  const differences = disagreements.map(
    ({ name, own, others, machines }) =>
      `${optionOf(name)} is ${own} here, but ${others} on ${machines.join(', ')}`,
  );
  return warning(
    'Machines',
    differences.join('; '),
    'Give all machines the same value: a process that disagrees with those that work accepts and renders nothing.',
  );
}

function storeFinding({ storeFailure }: Examination): Finding {
  if (storeFailure === null) return ok('Artifacts', 'they can be stored');
  const remedy =
    'Check the rights, the free space and the mount of their folder, or the bucket and its credentials. Until then jobs wait.';
  return failed('Artifacts', `they can't be stored: ${storeFailure}`, remedy);
}

function serviceFindings({ problems, queuePausedAt, queued, running }: ServiceStatus): Finding[] {
  if (problems.length === 0) {
    const paused = queuePausedAt === null ? '' : '; the queue is paused';
    return [ok('Service', `it is running and ready: ${queued} jobs queued, ${running} running${paused}`)];
  }
  return problems.map(({ message }) => failed('Service', message, 'Check its log.'));
}

/** The first start is likely, but so is a wrong name. */
function withoutData(config: Config): Finding {
  return warning(
    CHECK,
    `${placeNameOf(config)} contains no installation yet: the first start creates it`,
    'If there should be one, correct --database-url or --database-schema.',
  );
}

function unreadable(config: Config, error: Error): Finding {
  return failed(CHECK, error.message, remedyOf(config, error));
}

function remedyOf({ databaseUrl }: Config, error: Error): string {
  if (isScenepressError(error, 'storage_locked')) {
    return (
      'If it is a Scenepress service, leave it: it may be starting or stopping. Run the doctor again, and look at its ' +
      'log. Otherwise end it.'
    );
  }
  if (isScenepressError(error, 'storage_damaged')) {
    return databaseUrl === undefined
      ? `Look for a backup first (${ownCommand('restore')}); ${ownCommand('recover')} reports what can be recovered without one.`
      : `If the message names no remedy, restore a backup of the database with the tools of Postgres; ${ownCommand('credits audit')} checks the books.`;
  }
  return 'Fix this, then run the doctor again.';
}

function shown(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`;
}
