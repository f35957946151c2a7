import type { Command } from 'commander';
import { type BackupsInfo, isoTime } from '../../lib/internal.ts';
import type { DiskInfo, ServiceInfo } from '../admin/service-views.ts';
import { withAdministration } from '../runtime/with-administration.ts';
import { configOf } from './config-flags.ts';
import { administrative } from './describe.ts';
import { showMachines } from './machine.ts';
import { counted, print, printDetails, printJson, printTable, shownSize, shownTime } from './output.ts';

type Flags = { json?: boolean } & Record<string, unknown>;

/** `scenepress status` */
export function statusCommand(): Command {
  return administrative(
    'status',
    'Show health, workers, sandbox, disk use, retention, scheduled backups and recent warnings and errors of the service',
    'scenepress status --json',
  ).action(async (flags: Flags) => {
    const { info, served } = await withAdministration(configOf(flags), async (admin, { served }) => ({
      info: await admin.data.showService(),
      served,
    }));
    if (flags.json) printJson(info);
    else show(info, served);
  });
}

function show(
  { version, health, status, disk, faults, machines, backups }: ServiceInfo,
  served: boolean,
): void {
  const { renderer, sandbox, workers, idleWorkers, warmWorkers, queuePausedAt } = status;
  const problems = health.problems.map(({ message }) => message);
  printDetails([
    ['Service', served ? [health.status, ...problems].join('\n') : machines ? null : 'no server is running'],
    ['Warnings', health.warnings.join('\n')],
    ['Version', version],
    ['Manim', renderer && `${renderer.manim}, Python ${renderer.python}`],
    ['Queue', queuePausedAt === null ? 'running' : `paused since ${shownTime(queuePausedAt)}`],
    ['Jobs', `${machines ? status.runningEverywhere : status.running} running, ${status.queued} queued`],
    ['Workers', served ? `${workers}: ${idleWorkers} idle, ${warmWorkers} warm` : null],
    ['Sandbox', sandbox && `${sandbox.level}: ${sandbox.layers.join(', ') || 'no layers'}`],
    ['Disk', `${shownSize(disk.freeBytes)} free of ${shownSize(disk.totalBytes)}`],
    ['Data', dataText(disk)],
    ['Retention', retentionText(disk.retention)],
    ['Backups', backups && backupsText(backups)],
  ]);
  if (machines) {
    print('');
    showMachines(machines);
  }
  if (faults.length === 0) return;
  print('');
  printTable(
    ['LAST TIME', 'LEVEL', 'TIMES', 'MESSAGE'],
    faults.map(({ at, level, times, message, cause }) => [
      shownTime(at),
      level,
      String(times),
      cause === null ? message : `${message}: ${cause.split('\n', 1)[0]}`,
    ]),
  );
}

function dataText({ artifactBytes, databaseBytes, documentBytes }: DiskInfo): string {
  const artifacts = artifactBytes === null ? '' : `${shownSize(artifactBytes)} of artifacts, `;
  return `${artifacts}database of ${shownSize(databaseBytes)}, accounts and keys of ${shownSize(documentBytes)}`;
}

function backupsText({ folder, lastSuccessAtMs, lastFailure }: BackupsInfo): string {
  const last =
    lastSuccessAtMs === null
      ? 'none is complete yet'
      : `the last is of ${shownTime(isoTime(lastSuccessAtMs))}`;
  const failure =
    lastFailure &&
    `one failed at ${shownTime(isoTime(lastFailure.atMs))}: ${lastFailure.reason} (${lastFailure.message})`;
  return [`in ${folder}, ${last}`, ...(failure ? [failure] : [])].join('\n');
}

function retentionText({ days, gibibytes }: DiskInfo['retention']): string {
  const limits = [
    ...(days === null ? [] : [counted(days, 'day')]),
    ...(gibibytes === null ? [] : [`${gibibytes} GiB in all`]),
  ];
  return limits.length === 0 ? 'artifacts are kept' : `artifacts: ${limits.join(', at most ')}`;
}
