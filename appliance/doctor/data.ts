import { constants, type Stats } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { DOCUMENT_FILES, isScenepressError, type ServiceStatus } from '../../lib/index.ts';
import type { Examination } from '../admin/administration-views.ts';
import { withAdministration } from '../cli/with-administration.ts';
import { ownCommand } from '../command-line.ts';
import type { Config } from '../config/config.ts';
import { UserError } from '../user-error.ts';
import { type Finding, failed, ok, warning } from './finding.ts';
import { nearestFolder } from './machine.ts';

const CHECK = 'Data';
const MIB = 1024 * 1024;

/** What was found in the data folder. */
export interface DataReport {
  findings: Finding[];
  /** A service that runs has the folder. */
  served: boolean;
  /** When something was last written there, as far as it is known. */
  newestMs: number | null;
}

/** The data folder, through the service that runs on it or by itself. One that isn't there yet isn't made. */
export async function examineData(config: Config): Promise<DataReport> {
  const folder = resolve(config.dataDir);
  const report: DataReport = { findings: [], served: false, newestMs: null };
  if (!(await isThere(join(folder, 'database.sqlite')))) {
    report.findings.push(await examineFuture(folder));
    return report;
  }
  report.findings.push(...(await examineRights(folder)));
  if (report.findings.some(({ status }) => status === 'failed')) return report;
  try {
    await withAdministration(config, async (admin, { served }) => {
      report.served = served;
      const examination = await admin.data.examine();
      report.newestMs = examination.newestMs;
      report.findings.push(...findingsOf(folder, examination));
      if (served) report.findings.push(...serviceFindings(examination.status));
    });
  } catch (error) {
    if (!isScenepressError(error) && !(error instanceof UserError)) throw error;
    report.findings.push(failed(CHECK, error.message, remedyOf(error)));
  }
  return report;
}

async function examineFuture(folder: string): Promise<Finding> {
  const place = nearestFolder(folder);
  try {
    await access(place, constants.W_OK | constants.X_OK);
    return ok(CHECK, `${folder} holds no data yet: the first start makes it`);
  } catch {
    return failed(
      CHECK,
      `${folder} can't be made: this user may not write to ${place}`,
      'Name another with --data-dir, or make it and give it to this user.',
    );
  }
}

/** Whether the service can use the folder, and no one else can. */
async function examineRights(folder: string): Promise<Finding[]> {
  const findings: Finding[] = [];
  const ours = process.getuid?.();
  const files = ['master.key', ...DOCUMENT_FILES].map((name) => join(folder, name));
  for (const path of [folder, ...files]) {
    const file = await stat(path).catch(() => undefined);
    if (!file) continue; // A master key may come from the configuration.
    if (ours !== 0 && file.uid !== ours) {
      const remedy = `Run the doctor as the service's user, or give it the files: chown -R ${ours} ${folder}`;
      findings.push(failed(CHECK, `${path} belongs to user ${file.uid}`, remedy));
    } else if ((file.mode & exposing(file)) !== 0) {
      const rights = file.isDirectory() ? 'go-rw' : '600';
      findings.push(
        warning(CHECK, `others may look into ${path}`, `Only its owner should: chmod ${rights} ${path}`),
      );
    }
  }
  return findings;
}

/**
 * The rights of others that give something away. To pass through the folder doesn't: a service that is root lets its
 * renders do that, which run as other users, where there is no bubblewrap; to take that away would break it.
 */
function exposing(file: Stats): number {
  return file.isDirectory() ? 0o066 : 0o077;
}

function findingsOf(folder: string, { audit, data, ...examination }: Examination): Finding[] {
  const sizes = `database ${shown(data.databaseBytes + data.logBytes)}, documents ${shown(data.documentBytes)}`;
  const findings = [ok(CHECK, `${folder} can be read: ${sizes}`)];
  for (const userId of examination.halfDeletedAccounts) {
    const remedy = `Unless that is being done now, repeat ${ownCommand(`account delete ${userId} --yes`)}`;
    findings.push(warning(CHECK, `account ${userId} is not deleted completely`, remedy));
  }
  if (examination.isRotating) {
    const remedy = `A server completes that after its start; without one, ${ownCommand('master-key rotate')} does.`;
    findings.push(warning(CHECK, 'the master key is not replaced everywhere: both keys are needed', remedy));
  }
  if (audit === null) return findings;
  if (audit.problems.length === 0) return [...findings, ok('Books', 'every balance adds up')];
  const remedy = `Run ${ownCommand('credits audit')}, keep a backup, and compare with an earlier one.`;
  return [...findings, failed('Books', `${audit.problems.length} things don't add up`, remedy)];
}

function serviceFindings({ problems, queuePausedAt, queued, running }: ServiceStatus): Finding[] {
  if (problems.length === 0) {
    const paused = queuePausedAt === null ? '' : '; the queue is paused';
    return [ok('Service', `it runs and is ready: ${queued} jobs wait, ${running} are rendered${paused}`)];
  }
  return problems.map(({ message }) => failed('Service', message, 'Look into its log.'));
}

function remedyOf(error: Error): string {
  if (isScenepressError(error, 'storage_locked')) {
    return 'If that process is no Scenepress that just starts or stops, end it.';
  }
  if (isScenepressError(error, 'storage_damaged')) {
    return `Look for a backup first (${ownCommand('restore')}); ${ownCommand('recover')} says what can be saved without one.`;
  }
  return 'Put that right, then ask the doctor again.';
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT' && error.code !== 'ENOTDIR',
  );
}

function shown(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`;
}
