import { isoTime } from '../../../lib/internal.ts';
import type { DiskInfo, ServiceInfo } from '../../admin/service-views.ts';
import type { Fault } from '../../support/faults.ts';
import { shownNumber, shownSize, shownTime } from '../format.ts';
import { type Html, html, longText, type Value } from '../html.ts';
import { filled } from '../language/filled.ts';
import { texts } from '../language/texts.ts';
import { csrfField, emptyState, note, page, postButton } from '../layout.ts';
import { BASE, type Route, type Visit } from '../route.ts';
import type { RouteParts } from '../routes.ts';
import { databaseCard, machinesCard } from './machines.ts';

/** The state of the service, for administrators. */
export function serviceRoutes({ backups }: Pick<RouteParts, 'backups'>): Route[] {
  return [
    { method: 'GET', path: '/service', for: 'admins', handler: servicePage },
    {
      method: 'POST',
      path: '/service/pause',
      for: 'admins',
      async handler({ admin }) {
        await admin.queue.pause();
        return { to: '/service' };
      },
    },
    {
      method: 'POST',
      path: '/service/resume',
      for: 'admins',
      async handler({ admin }) {
        await admin.queue.resume();
        return { to: '/service' };
      },
    },
    {
      method: 'POST',
      path: '/service/machines/{machineId}/drain',
      for: 'admins',
      async handler({ admin, params }) {
        await admin.machines.drain({ machine: params['machineId'] ?? '' });
        return { to: '/service' };
      },
    },
    {
      method: 'POST',
      path: '/service/machines/{machineId}/forget',
      for: 'admins',
      async handler({ admin, params }) {
        await admin.machines.forget({ machine: params['machineId'] ?? '' });
        return { to: '/service' };
      },
    },
    {
      method: 'POST',
      path: '/service/backup',
      for: 'admins',
      async handler({ admin, h }) {
        const tar = await backups.open((folder) => admin.data.backUp({ folder, withMasterKey: false }));
        const day = new Date().toISOString().slice(0, 10);
        const response = h
          .response(tar)
          .type('application/x-tar')
          .header('Content-Disposition', `attachment; filename="scenepress-backup-${day}.tar"`);
        return { response };
      },
    },
  ];
}

async function servicePage({ admin, viewer, csrf }: Visit): Promise<Html> {
  const { service: t, counts: numbers } = texts();
  const [counts, info, queue] = await Promise.all([
    admin.data.showCounts(),
    admin.data.showService(),
    admin.queue.show(),
  ]);
  const { health, status, disk, faults, machines } = info;
  const { queuePausedAt, oldestQueuedAt } = status;
  const { queued, running, workers } = queue;
  const isPaused = queuePausedAt !== null;
  return page(
    { title: t.title, section: 'service', viewer, csrf },
    html`<div id="live" data-live data-polled class="stack">
${health.problems.map(({ message }) => note('bad', longText(message)))}
${health.warnings.map((warning) => note('warn', longText(warning)))}
${health.problems.length === 0 && health.warnings.length === 0 && !isPaused && note('good', t.isReady)}
${isPaused && note('warn', filled(t.pausedSince, { time: shownTime(queuePausedAt) }))}
<dl class="figures">
<div><dt>${t.running}</dt><dd>${shownNumber(running)}<small>${t.onWorkers(numbers.workers(workers))}</small></dd></div>
<div><dt>${t.queued}</dt><dd>${shownNumber(queued)}<small>${oldestQueuedAt === null ? t.nothingWaits : filled(t.oldestSince, { time: shownTime(oldestQueuedAt) })}</small></dd></div>
<div><dt>${t.accounts}</dt><dd>${shownNumber(counts.accounts)}<small>${t.disabled(shownNumber(counts.disabledAccounts))}</small></dd></div>
<div><dt>${t.keys}</dt><dd>${shownNumber(counts.keys - counts.revokedKeys)}<small>${t.revoked(shownNumber(counts.revokedKeys))}</small></dd></div>
</dl>
<section class="card"><header><h2>${t.queue}</h2>${
      isPaused
        ? postButton({ to: '/service/resume', csrf, label: t.resume, look: 'primary' })
        : postButton({ to: '/service/pause', csrf, label: t.pause })
    }</header>
<p class="muted">${t.queueText}</p></section>
${machines && machinesCard(machines, csrf)}
<div class="row">${healthCard(info)}${installationCard(info)}</div>
${diskCard(disk)}
${faultsCard(faults)}
</div>`,
    machines ? databaseCard() : backupCard(info, csrf),
    html`<p class="small muted">${filled(machines ? t.commandsOfDatabase : t.commandsOfFolder, { record: html`<a href="${BASE}/acts">${t.record}</a>` })}</p>`,
  );
}

function healthCard({ health, status: { workers } }: ServiceInfo): Html {
  const { service: t, common } = texts();
  const { status, sandbox, limits, queue, disk } = health;
  const isReady = status === 'ready';
  return html`<section class="card"><h2>${t.health}</h2><dl class="details">
<dt>${common.status}</dt><dd><span class="tag ${isReady ? 'good' : 'bad'}">${t.statuses[status]}</span></dd>
<dt>${t.queue}</dt><dd>${t.queueStates[queue]}</dd>
<dt>${t.disk}</dt><dd>${t.diskStates[disk]}</dd>
<dt>${t.sandbox}</dt><dd>${sandbox ?? (workers === 0 ? t.noWorkersHere : t.notKnownYet)}</dd>
${limits && html`<dt>${t.limits}</dt><dd>${t.limitOfMemory(limits.memory)}<br>${t.limitOfProcesses(limits.processes)}<br>${t.limitOfDisk(limits.disk)}</dd>`}
</dl>
<p class="small muted">${filled(t.healthText, { code: isReady ? '200' : '503' })}</p></section>`;
}

function installationCard({ version, status }: ServiceInfo): Html {
  const { renderer, sandbox, workers, warmWorkers, idleWorkers, rendererDeaths, bookProblems } = status;
  const { service: t, common, counts } = texts();
  const missing = Object.entries(sandbox?.problems ?? {});
  return html`<section class="card"><h2>${t.installation}</h2><dl class="details">
<dt>Scenepress</dt><dd>${version}, Node ${process.versions.node}</dd>
${renderer && html`<dt>Manim</dt><dd>${renderer.manim}, Python ${renderer.python}</dd>`}
<dt>${t.workers}</dt><dd>${t.workersText(shownNumber(workers), shownNumber(idleWorkers), shownNumber(warmWorkers))}</dd>
<dt>${t.renderersDied}</dt><dd>${t.sinceStart(shownNumber(rendererDeaths))}</dd>
${sandbox && html`<dt>${t.isolation}</dt><dd>${sandbox.layers.join(', ') || common.none}</dd>`}
${missing.map(([layer, problem]) => html`<dt>${t.noLayer(layer)}</dt><dd>${problem}</dd>`)}
<dt>${t.books}</dt><dd>${bookProblems === null ? t.notAudited : bookProblems === 0 ? t.inOrder : counts.problems(bookProblems)}</dd>
</dl></section>`;
}

function diskCard({
  databaseBytes,
  documentBytes,
  artifactBytes,
  freeBytes,
  totalBytes,
  retention,
}: DiskInfo): Html {
  const { service: t } = texts();
  const used = totalBytes - freeBytes;
  return html`<section class="card"><h2>${t.disk}</h2>
<div class="usage"><meter min="0" max="${totalBytes}" high="${Math.round(totalBytes * 0.9)}" value="${used}" aria-label="${t.usedDisk}"></meter><span>${t.freeOf(shownSize(freeBytes), shownSize(totalBytes))}</span></div>
<dl class="details">
<dt>${t.artifacts}</dt><dd>${artifactBytes === null ? t.beingAddedUp : shownSize(artifactBytes)}</dd>
<dt>${t.database}</dt><dd>${shownSize(databaseBytes)}</dd>
<dt>${t.accountsAndKeys}</dt><dd>${shownSize(documentBytes)}</dd>
<dt>${t.retention}</dt><dd>${retentionText(retention)}</dd>
</dl>
<p class="small muted">${filled(t.retentionText)}</p></section>`;
}

function retentionText({ days, gibibytes }: DiskInfo['retention']): string {
  const { service: t, counts } = texts();
  const limits = [
    ...(days === null ? [] : [counts.days(days)]),
    ...(gibibytes === null ? [] : [t.inAll(gibibytes)]),
  ];
  return limits.length === 0 ? t.keptUntilForgotten : limits.join(t.atMost);
}

function backupCard(
  { disk: { databaseBytes, documentBytes, artifactBytes }, backups }: ServiceInfo,
  csrf: string,
): Html {
  const { service: t } = texts();
  const bytes = databaseBytes + documentBytes + (artifactBytes ?? 0);
  return html`<section class="card"><header><h2>${t.backup}</h2>
<form method="post" action="${BASE}/service/backup">${csrfField(csrf)}<button>${t.backUp}</button></form></header>
<p class="muted">${t.backupText(shownSize(bytes))}</p>
<dl class="details">
<dt>${t.scheduled}</dt><dd>${scheduledText(backups)}</dd>
<dt>${t.contains}</dt><dd>${t.containsText}</dd>
<dt>${t.secrets}</dt><dd>${filled(t.secretsText)}</dd>
<dt>${t.toRestore}</dt><dd>${filled(t.toRestoreText)}</dd>
</dl></section>`;
}

function scheduledText(backups: ServiceInfo['backups']): Value {
  const { service: t } = texts();
  if (!backups) return filled(t.notScheduled);
  const { folder, lastSuccessAtMs, lastFailure } = backups;
  const last =
    lastSuccessAtMs === null
      ? t.noneIsComplete
      : filled(t.lastIsOf, { time: shownTime(isoTime(lastSuccessAtMs)) });
  const failure =
    lastFailure && filled(t.oneFailed, { ...lastFailure, time: shownTime(isoTime(lastFailure.atMs)) });
  return [filled(t.inFolder, { folder: html`<code>${folder}</code>`, last }), failure];
}

function faultsCard(faults: Fault[]): Html {
  const { service: t, common } = texts();
  const rows = faults.map(
    ({ at, level, message, cause, times }) => html`<tr>
<th scope="row" class="rowhead">${message}${cause !== null && html`<span class="clip small muted" title="${cause}">${cause}</span>`}</th>
<td data-label="${t.level}"><span class="tag ${level === 'warn' ? 'warn' : 'bad'}">${level === 'warn' ? t.warning : t.error}</span></td>
<td data-label="${t.times}" class="end number">${shownNumber(times)}</td>
<td data-label="${common.time}">${shownTime(at)}</td>
</tr>`,
  );
  const content: Value =
    rows.length === 0
      ? emptyState(t.noFaults, t.noFaultsText)
      : html`<div class="scroll"><table class="cards"><thead><tr><th>${t.message}</th><th>${t.level}</th><th class="end">${t.times}</th><th>${t.lastTime}</th></tr></thead><tbody>${rows}</tbody></table></div>`;
  return html`<section class="card flush"><header><h2>${t.faults}</h2><span class="small muted">${t.faultsHint}</span></header>${content}</section>`;
}
