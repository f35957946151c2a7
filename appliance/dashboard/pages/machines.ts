import type { MachineInfo } from '../../admin/service-views.ts';
import { clockText, isClockWrong } from '../../machines/clock.ts';
import { optionOf } from '../../machines/settings.ts';
import { shownQuality, shownTime } from '../format.ts';
import { type Html, html } from '../html.ts';
import { postButton } from '../layout.ts';

const LOOKS: Record<MachineInfo['state'], string> = {
  ready: 'good',
  starting: 'warn',
  draining: 'warn',
  'not ready': 'bad',
  dead: 'bad',
};

/** The processes of an installation with a database. */
export function machinesCard(machines: MachineInfo[], csrf: string): Html {
  const rows = machines.map(
    (machine) => html`<tr>
<th scope="row" class="rowhead">${machine.name}<span class="clip small muted">${machine.machineId}, version ${machine.version}</span>${differences(machine)}</th>
<td data-label="State"><span class="tag ${LOOKS[machine.state]}">${machine.state}</span></td>
<td data-label="Roles">${machine.roles.join(', ')}${machine.qualities && html`<span class="small muted"> ${machine.qualities.map(shownQuality).join(', ')} only</span>`}</td>
<td data-label="Workers">${machine.roles.includes('worker') ? `${machine.busyWorkers} of ${machine.workers} busy, ${machine.warmWorkers} warm` : 'none'}</td>
<td data-label="Clock">${clock(machine)}</td>
<td data-label="Since">${shownTime(machine.startedAt)}</td>
<td data-label="Last report">${shownTime(machine.seenAt)}</td>
<td>${action(machine, csrf)}</td>
</tr>`,
  );
  return html`<section class="card flush"><header><h2>Machines</h2><span class="small muted">each reports every five seconds</span></header>
<div class="scroll"><table class="cards"><thead><tr><th>Name</th><th>State</th><th>Roles</th><th>Workers</th><th>Clock</th><th>Since</th><th>Last report</th><th><span class="visually-hidden">Action</span></th></tr></thead><tbody>${rows}</tbody></table></div>
<p class="small muted">A drained machine takes no more jobs, finishes its renders and ends. The jobs of a dead one are rendered by others.</p></section>`;
}

/** Where it is not as most machines are. */
function differences(machine: MachineInfo): Html[] {
  return machine.differences.map(
    ({ name, value, others }) =>
      html`<span class="clip small"><span class="tag warn">differs</span> ${optionOf(name)} is ${value}, on most machines ${others}</span>`,
  );
}

function clock({ clockAheadMs }: MachineInfo): Html | string {
  if (clockAheadMs === null) return 'not known';
  if (!isClockWrong(clockAheadMs)) return 'right';
  return html`<span class="tag bad">${clockText(clockAheadMs)} the database</span>`;
}

function action({ machineId, name, state }: MachineInfo, csrf: string): Html | null {
  if (state === 'draining') return null;
  const [verb, label] = state === 'dead' ? ['forget', 'Forget'] : ['drain', 'Drain'];
  return postButton({
    to: `/service/machines/${machineId}/${verb}`,
    csrf,
    label: html`${label} ${name}<span class="visually-hidden"> ${machineId}</span>`,
  });
}

/** Instead of backups by download. */
export function databaseCard(): Html {
  return html`<section class="card"><h2>Backup</h2>
<p class="muted">The data is in a Postgres database: back it up as any other, with <code>pg_dump</code> or base backups and a WAL archive, and the artifacts with the tools of their bucket or file system.</p></section>`;
}
