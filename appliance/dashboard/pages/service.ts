import type { Counts } from '../../admin/administration-views.ts';
import { VERSION } from '../../version.ts';
import { counted, shownNumber, shownSize, shownTime } from '../format.ts';
import { type Html, html } from '../html.ts';
import { note, page, postButton } from '../layout.ts';
import { BASE, type Route, type Visit } from '../route.ts';

/** The state of the service, for administrators. */
export function serviceRoutes(): Route[] {
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
  ];
}

async function servicePage({ admin, viewer, csrf }: Visit): Promise<Html> {
  const counts = await admin.data.showCounts();
  const { service } = counts;
  const { problems, queuePausedAt, queued, running, workers, oldestQueuedAt } = service;
  return page(
    { title: 'Service', section: 'service', viewer, csrf },
    html`<div id="live" data-live class="stack">
${problems.map(({ message }) => note('bad', message))}
${problems.length === 0 && queuePausedAt === null && note('good', 'The service is ready: renders start as soon as a worker is free.')}
${queuePausedAt !== null && note('warn', html`The queue has been paused since ${shownTime(queuePausedAt)}: renders are accepted, but none starts.`)}
<dl class="figures">
<div><dt>Running</dt><dd>${shownNumber(running)}<small>on ${counted(workers, 'worker')}</small></dd></div>
<div><dt>Queued</dt><dd>${shownNumber(queued)}<small>${oldestQueuedAt === null ? 'nothing waits' : html`the oldest since ${shownTime(oldestQueuedAt)}`}</small></dd></div>
<div><dt>Accounts</dt><dd>${shownNumber(counts.accounts)}<small>${shownNumber(counts.disabledAccounts)} disabled</small></dd></div>
<div><dt>Keys</dt><dd>${shownNumber(counts.keys - counts.revokedKeys)}<small>${shownNumber(counts.revokedKeys)} revoked</small></dd></div>
</dl>
<div class="row">
<section class="card"><h2>Queue</h2>
<p class="muted">A paused queue starts no renders, even after a restart. Running ones continue, and requests are accepted.</p>
<div class="actions">${
      queuePausedAt === null
        ? postButton({ to: '/service/pause', csrf, label: 'Pause the queue' })
        : postButton({ to: '/service/resume', csrf, label: 'Resume the queue', look: 'primary' })
    }</div></section>
${installationCard(counts)}
</div></div>`,
    html`<p class="small muted">Backups, recovery and diagnosis: <code>scenepress backup</code>, <code>scenepress recover</code>, <code>scenepress doctor</code>. The <a href="${BASE}/acts">record</a> lists who changed what.</p>`,
  );
}

function installationCard({ service, data }: Counts): Html {
  const { sandbox, renderer, rendererDeaths, bookProblems, diskFull } = service;
  return html`<section class="card"><h2>Installation</h2><dl class="details">
<dt>Scenepress</dt><dd>${VERSION}</dd>
${renderer && html`<dt>Manim</dt><dd>${renderer.manim}, Python ${renderer.python}</dd>`}
<dt>Sandbox</dt><dd>${sandbox?.level ?? 'not known until a worker is warm'}</dd>
<dt>Renderers died</dt><dd>${shownNumber(rendererDeaths)} since the start</dd>
<dt>Database</dt><dd>${shownSize(data.databaseBytes + data.logBytes)}${diskFull && html` <span class="tag bad">Disk full</span>`}</dd>
<dt>Books</dt><dd>${bookProblems === null ? 'not audited yet' : bookProblems === 0 ? 'in order' : counted(bookProblems, 'problem')}</dd>
</dl></section>`;
}
