import { Command } from 'commander';
import type { MachineDifference, MachineInfo } from '../admin/service-views.ts';
import { isClockWrong } from '../machines/clock.ts';
import { optionOf } from '../machines/settings.ts';
import { withAdministration } from '../runtime/with-administration.ts';
import { UserError } from '../support/user-error.ts';
import { configOf } from './config-flags.ts';
import { addExamples, administrative } from './describe.ts';
import { counted, print, printJson, printTable, shownTime } from './output.ts';

type Flags = { json?: boolean } & Record<string, unknown>;

/** `scenepress machine …` */
export function machineCommand(): Command {
  const machine = new Command('machine').description('The processes of an installation with a database');
  addExamples(machine, 'scenepress machine list', [
    'scenepress machine drain render-3',
    'before it is switched off',
  ]);

  machine.addCommand(
    administrative(
      'list',
      'List servers and workers, those that started first at the top, and roles and qualities that none has',
      'scenepress machine list --json',
    ).action(async (flags: Flags) => {
      const listed = await withAdministration(configOf(flags), (admin) => admin.machines.list());
      const { machines, warnings } = listed;
      if (!machines) throw new UserError('This installation has no database, so it has one machine only.');
      if (flags.json) printJson(machines);
      else {
        showMachines(machines);
        for (const warning of warnings) print(warning);
      }
    }),
  );

  machine.addCommand(
    administrative(
      'drain <machine>',
      'Let a machine, given its name or id, finish its renders, take no more and exit',
      'scenepress machine drain render-3',
    ).action(async (name: string, flags: Flags) => {
      const drained = await withAdministration(configOf(flags), (admin) =>
        admin.machines.drain({ machine: name }),
      );
      if (flags.json) printJson(drained);
      else print(drainText(drained));
    }),
  );

  machine.addCommand(
    administrative(
      'forget <machine>',
      'Remove a dead machine from the list; other machines render its jobs in any case',
      'scenepress machine forget render-3',
    ).action(async (name: string, flags: Flags) => {
      const gone = await withAdministration(configOf(flags), (admin) =>
        admin.machines.forget({ machine: name }),
      );
      if (flags.json) printJson(gone);
      else print(`${gone.name} (${gone.machineId}) is no longer listed.`);
    }),
  );

  return machine;
}

/** What a machine that is drained does next. */
export function drainText({ name, machineId, busyWorkers }: MachineInfo): string {
  const who = `${name} (${machineId})`;
  if (busyWorkers === 0) return `${who} renders nothing and ends now.`;
  return `${who} ends when its ${counted(busyWorkers, 'running render')} ${busyWorkers === 1 ? 'has' : 'have'} ended.`;
}

/** Prints a table of machines, and where they differ, marked with `*`. */
export function showMachines(machines: MachineInfo[]): void {
  printTable(
    ['NAME', 'ID', 'STATE', 'ROLES', 'WORKERS', 'VERSION', 'CLOCK', 'SETTINGS', 'SINCE', 'LAST REPORT'],
    machines.map((machine) => [
      machine.name,
      machine.machineId,
      machine.state,
      machine.roles.join(',') + (machine.qualities ? ` (${machine.qualities.join(',')})` : ''),
      workersText(machine),
      machine.version + marked(machine.differences.some(({ name }) => name === 'version')),
      clockCell(machine),
      settingsCell(machine),
      shownTime(machine.startedAt),
      shownTime(machine.seenAt),
    ]),
  );
  for (const { name, machineId, differences } of machines)
    for (const difference of differences) print(`* ${name} (${machineId}): ${differenceText(difference)}`);
}

/** `--render-memory-mb is 4096, on most machines 2048` */
export function differenceText({ name, value, others }: MachineDifference): string {
  return `${optionOf(name)} is ${value}, on most machines ${others}`;
}

/** How far it is ahead of the database: `+0.3 s`, `-612.0 s *`; empty if not known. */
export function clockCell({ clockAheadMs }: Pick<MachineInfo, 'clockAheadMs'>): string {
  if (clockAheadMs === null) return '';
  const tenths = Math.round(clockAheadMs / 100);
  return `${tenths < 0 ? '-' : '+'}${(Math.abs(tenths) / 10).toFixed(1)} s${marked(isClockWrong(clockAheadMs))}`;
}

/** Empty of a machine whose version reports none. */
function settingsCell({ differences, settings }: MachineInfo): string {
  if (Object.keys(settings).length === 0) return '';
  const different = differences.filter(({ name }) => name !== 'version').length;
  return different === 0 ? 'usual' : `${different} unusual${marked(true)}`;
}

function marked(isDifferent: boolean): string {
  return isDifferent ? ' *' : '';
}

/** `3 of 8 busy, 8 warm`; empty for a machine without workers. */
export function workersText({ roles, workers, busyWorkers, warmWorkers }: MachineInfo): string {
  return roles.includes('worker') ? `${busyWorkers} of ${workers} busy, ${warmWorkers} warm` : '';
}
