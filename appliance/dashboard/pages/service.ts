import { isoTime } from '../../../lib/internal.ts';
import type { DiskInfo, ServiceInfo } from '../../admin/service-views.ts';
import type { Fault } from '../../support/faults.ts';
import { counted, shownNumber, shownSize, shownTime } from '../format.ts';
import { type Html, html, longText, type Value } from '../html.ts';
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
    { title: 'Service', section: 'service', viewer, csrf },
    html`<div id="live" data-live data-polled class="stack">
${health.problems.map(({ message }) => note('bad', longText(message)))}
${health.warnings.map((warning) => note('warn', longText(warning)))}
${health.problems.length === 0 && health.warnings.length === 0 && !isPaused && note('good', 'The service is ready: renders start as soon as a worker is free.')}
${isPaused && note('warn', html`The queue has been paused since ${shownTime(queuePausedAt)}: renders are accepted, but none starts.`)}
<dl class="figures">
<div><dt>Running</dt><dd>${shownNumber(running)}<small>on ${counted(workers, 'worker')}</small></dd></div>
<div><dt>Queued</dt><dd>${shownNumber(queued)}<small>${oldestQueuedAt === null ? 'nothing waits' : html`the oldest since ${shownTime(oldestQueuedAt)}`}</small></dd></div>
<div><dt>Accounts</dt><dd>${shownNumber(counts.accounts)}<small>${shownNumber(counts.disabledAccounts)} disabled</small></dd></div>
<div><dt>Keys</dt><dd>${shownNumber(counts.keys - counts.revokedKeys)}<small>${shownNumber(counts.revokedKeys)} revoked</small></dd></div>
</dl>
<section class="card"><header><h2>Queue</h2>${
      isPaused
        ? postButton({ to: '/service/resume', csrf, label: 'Resume the queue', look: 'primary' })
        : postButton({ to: '/service/pause', csrf, label: 'Pause the queue' })
    }</header>
<p class="muted">A paused queue starts no renders, even after a restart. Running ones continue, and requests are accepted.</p></section>
${machines && machinesCard(machines, csrf)}
<div class="row">${healthCard(info)}${installationCard(info)}</div>
${diskCard(disk)}
${faultsCard(faults)}
</div>`,
    machines ? databaseCard() : backupCard(info, csrf),
    html`<p class="small muted">For ${machines ? html`diagnosis, use <code>scenepress credits audit</code>` : html`recovery and diagnosis, use <code>scenepress recover</code>`}, <code>scenepress doctor</code> and <code>scenepress support-bundle</code>. The <a href="${BASE}/acts">record</a> lists who changed what.</p>`,
  );
}

function healthCard({ health, status: { workers } }: ServiceInfo): Html {
  const { status, sandbox, limits, queue, disk } = health;
  const isReady = status === 'ready';
  return html`<section class="card"><h2>Health</h2><dl class="details">
<dt>Status</dt><dd><span class="tag ${isReady ? 'good' : 'bad'}">${status}</span></dd>
<dt>Queue</dt><dd>${queue}</dd>
<dt>Disk</dt><dd>${disk}</dd>
<dt>Sandbox</dt><dd>${sandbox ?? (workers === 0 ? 'no workers in this process' : 'not known until a worker is warm')}</dd>
${limits && html`<dt>Limits</dt><dd>memory: ${limits.memory}<br>processes: ${limits.processes}<br>disk: ${limits.disk}</dd>`}
</dl>
<p class="small muted">As load balancers read it: <code>/health/ready</code> answers ${isReady ? '200' : '503'}.</p></section>`;
}

function installationCard({ version, status }: ServiceInfo): Html {
  const { renderer, sandbox, workers, warmWorkers, idleWorkers, rendererDeaths, bookProblems } = status;
  const missing = Object.entries(sandbox?.problems ?? {});
  return html`<section class="card"><h2>Installation</h2><dl class="details">
<dt>Scenepress</dt><dd>${version}, Node ${process.versions.node}</dd>
${renderer && html`<dt>Manim</dt><dd>${renderer.manim}, Python ${renderer.python}</dd>`}
<dt>Workers</dt><dd>${shownNumber(workers)}: ${shownNumber(idleWorkers)} idle, ${shownNumber(warmWorkers)} warm</dd>
<dt>Renderers died</dt><dd>${shownNumber(rendererDeaths)} since the start</dd>
${sandbox && html`<dt>Isolation</dt><dd>${sandbox.layers.join(', ') || 'none'}</dd>`}
${missing.map(([layer, problem]) => html`<dt>No ${layer}</dt><dd>${problem}</dd>`)}
<dt>Books</dt><dd>${bookProblems === null ? 'not audited yet' : bookProblems === 0 ? 'in order' : counted(bookProblems, 'problem')}</dd>
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
  const used = totalBytes - freeBytes;
  return html`<section class="card"><h2>Disk</h2>
<div class="usage"><meter min="0" max="${totalBytes}" high="${Math.round(totalBytes * 0.9)}" value="${used}" aria-label="Used disk space"></meter><span>${shownSize(freeBytes)} free of ${shownSize(totalBytes)}</span></div>
<dl class="details">
<dt>Artifacts</dt><dd>${artifactBytes === null ? 'being added up: reload the page' : shownSize(artifactBytes)}</dd>
<dt>Database</dt><dd>${shownSize(databaseBytes)}</dd>
<dt>Accounts and keys</dt><dd>${shownSize(documentBytes)}</dd>
<dt>Retention</dt><dd>${retentionText(retention)}</dd>
</dl>
<p class="small muted">Artifacts are videos, thumbnails and captions. How long they are kept is set by <code>SCENEPRESS_RETENTION_DAYS</code> and <code>SCENEPRESS_RETENTION_GB</code>; the jobs themselves remain.</p></section>`;
}

function retentionText({ days, gibibytes }: DiskInfo['retention']): string {
  const limits = [
    ...(days === null ? [] : [counted(days, 'day')]),
    ...(gibibytes === null ? [] : [`${gibibytes} GiB in all`]),
  ];
  return limits.length === 0
    ? 'artifacts are kept until their jobs are forgotten'
    : limits.join(', at most ');
}

function backupCard(
  { disk: { databaseBytes, documentBytes, artifactBytes }, backups }: ServiceInfo,
  csrf: string,
): Html {
  const bytes = databaseBytes + documentBytes + (artifactBytes ?? 0);
  return html`<section class="card"><header><h2>Backup</h2>
<form method="post" action="${BASE}/service/backup">${csrfField(csrf)}<button>Back up and download</button></form></header>
<p class="muted">A verified copy of everything, made while the service runs, of about ${shownSize(bytes)}. Until it is sent, it takes as much of the disk again.</p>
<dl class="details">
<dt>Scheduled</dt><dd>${scheduledText(backups)}</dd>
<dt>Contains</dt><dd>Jobs with code and metadata, artifacts, accounts with password hashes, key hashes, credits, the record, fonts and modules. Protect it like the service itself.</dd>
<dt>Secrets</dt><dd>Webhook secrets are encrypted with the master key, which is not in it: keep a copy of <code>master.key</code> elsewhere.</dd>
<dt>To restore</dt><dd><code>tar xf FILE</code>, then <code>scenepress restore scenepress-backup --data-dir FOLDER</code></dd>
</dl></section>`;
}

function scheduledText(backups: ServiceInfo['backups']): Value {
  if (!backups) return html`none: set <code>SCENEPRESS_BACKUP_DIR</code>`;
  const { folder, lastSuccessAtMs, lastFailure } = backups;
  const last =
    lastSuccessAtMs === null
      ? 'none is complete yet'
      : html`the last is of ${shownTime(isoTime(lastSuccessAtMs))}`;
  const failure =
    lastFailure &&
    html`; one failed at ${shownTime(isoTime(lastFailure.atMs))}: ${lastFailure.reason} (${lastFailure.message})`;
  return html`in <code>${folder}</code>, ${last}${failure}`;
}

function faultsCard(faults: Fault[]): Html {
  const rows = faults.map(
    ({ at, level, message, cause, times }) => html`<tr>
<th scope="row" class="rowhead">${message}${cause !== null && html`<span class="clip small muted" title="${cause}">${cause}</span>`}</th>
<td data-label="Level"><span class="tag ${level === 'warn' ? 'warn' : 'bad'}">${level === 'warn' ? 'Warning' : 'Error'}</span></td>
<td data-label="Times" class="end number">${shownNumber(times)}</td>
<td data-label="Time">${shownTime(at)}</td>
</tr>`,
  );
  const content: Value =
    rows.length === 0
      ? emptyState('No faults', 'Warnings and errors since the start are listed here.')
      : html`<div class="scroll"><table class="cards"><thead><tr><th>Message</th><th>Level</th><th class="end">Times</th><th>Last time</th></tr></thead><tbody>${rows}</tbody></table></div>`;
  return html`<section class="card flush"><header><h2>Recent faults</h2><span class="small muted">since the start; the log has all</span></header>${content}</section>`;
}
