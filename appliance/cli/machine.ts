import { Command } from 'commander';
import type { MachineInfo } from '../admin/administration-views.ts';
import { withAdministration } from '../runtime/with-administration.ts';
import { UserError } from '../user-error.ts';
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
      'List servers and workers with their roles, versions and workers, those that started first at the top',
      'scenepress machine list --json',
    ).action(async (flags: Flags) => {
      const { machines } = await withAdministration(configOf(flags), (admin) => admin.machines.list());
      if (!machines) throw new UserError('This installation has no database, so it has one machine only.');
      if (flags.json) printJson(machines);
      else showMachines(machines);
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

/** Prints a table of machines. */
export function showMachines(machines: MachineInfo[]): void {
  printTable(
    ['NAME', 'ID', 'STATE', 'ROLES', 'WORKERS', 'VERSION', 'SINCE', 'LAST REPORT'],
    machines.map((machine) => [
      machine.name,
      machine.machineId,
      machine.state,
      machine.roles.join(',') + (machine.qualities ? ` (${machine.qualities.join(',')})` : ''),
      workersText(machine),
      machine.version,
      shownTime(machine.startedAt),
      shownTime(machine.seenAt),
    ]),
  );
}

/** `3 of 8 busy, 8 warm`; empty for a machine without workers. */
export function workersText({ roles, workers, busyWorkers, warmWorkers }: MachineInfo): string {
  return roles.includes('worker') ? `${busyWorkers} of ${workers} busy, ${warmWorkers} warm` : '';
}
