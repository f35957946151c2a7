import type { MachineInfo } from '../../admin/service-views.ts';
import { isClockWrong } from '../../machines/clock.ts';
import { optionOf } from '../../machines/settings.ts';
import { shownQuality, shownTime } from '../format.ts';
import { type Html, html } from '../html.ts';
import { filled } from '../language/filled.ts';
import { texts } from '../language/texts.ts';
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
  const { common, service } = texts();
  const t = service.machines;
  const rows = machines.map(
    (machine) => html`<tr>
<th scope="row" class="rowhead">${machine.name}<span class="clip small muted">${t.version(machine.machineId, machine.version)}</span>${differences(machine)}</th>
<td data-label="${common.state}"><span class="tag ${LOOKS[machine.state]}">${t.states[machine.state]}</span></td>
<td data-label="${t.roles}">${machine.roles.join(', ')}${machine.qualities && html`<span class="small muted">${t.only(machine.qualities.map(shownQuality).join(', '))}</span>`}</td>
<td data-label="${service.workers}">${machine.roles.includes('worker') ? t.workers(machine.busyWorkers, machine.workers, machine.warmWorkers) : common.none}</td>
<td data-label="${t.clock}">${clock(machine)}</td>
<td data-label="${t.since}">${shownTime(machine.startedAt)}</td>
<td data-label="${t.lastReport}">${shownTime(machine.seenAt)}</td>
<td>${action(machine, csrf)}</td>
</tr>`,
  );
  return html`<section class="card flush"><header><h2>${t.title}</h2><span class="small muted">${t.hint}</span></header>
<div class="scroll"><table class="cards"><thead><tr><th>${common.name}</th><th>${common.state}</th><th>${t.roles}</th><th>${service.workers}</th><th>${t.clock}</th><th>${t.since}</th><th>${t.lastReport}</th><th><span class="visually-hidden">${t.action}</span></th></tr></thead><tbody>${rows}</tbody></table></div>
<p class="small muted">${t.text}</p></section>`;
}

/** Where it is not as most machines are. */
function differences(machine: MachineInfo): Html[] {
  const t = texts().service.machines;
  return machine.differences.map(
    ({ name, value, others }) =>
      html`<span class="clip small"><span class="tag warn">${t.differs}</span> ${t.difference(optionOf(name), value, others)}</span>`,
  );
}

function clock({ clockAheadMs }: MachineInfo): Html | string {
  const t = texts().service.machines;
  if (clockAheadMs === null) return t.notKnown;
  if (!isClockWrong(clockAheadMs)) return t.right;
  const seconds = Math.round(Math.abs(clockAheadMs) / 1000);
  return html`<span class="tag bad">${clockAheadMs > 0 ? t.ahead(seconds) : t.behind(seconds)}</span>`;
}

function action({ machineId, name, state }: MachineInfo, csrf: string): Html | null {
  if (state === 'draining') return null;
  const verb = state === 'dead' ? 'forget' : 'drain';
  const label = texts().service.machines[verb](name);
  return postButton({
    to: `/service/machines/${machineId}/${verb}`,
    csrf,
    label: html`${label}<span class="visually-hidden"> ${machineId}</span>`,
  });
}

/** Instead of backups by download. */
export function databaseCard(): Html {
  return html`<section class="card"><h2>${texts().service.backup}</h2>
<p class="muted">${filled(texts().service.machines.backupText)}</p></section>`;
}
