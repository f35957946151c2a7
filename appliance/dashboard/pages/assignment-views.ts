import type { AssignmentInfo, ClassLinkInfo } from '../../admin/assignment-views.ts';
import { shownNumber, shownTime } from '../format.ts';
import { type Html, html, type Value, wholeText } from '../html.ts';
import { texts } from '../language/texts.ts';
import { BASE, type Visit } from '../route.ts';

const LOOKS = { open: 'good', full: 'warn', expired: 'warn', revoked: '' };

/** The path of the page of an assignment, below {@link BASE}. */
export function assignmentPath(assignmentId: string): string {
  return `/assignments/${encodeURIComponent(assignmentId)}`;
}

/** The path of the page of a class link, below {@link BASE}. */
export function classLinkPath(classLinkId: string): string {
  return `/class-links/${encodeURIComponent(classLinkId)}`;
}

/** The path that the owner of an assignment passes on, below {@link BASE}. */
export function receivedPath(token: string): string {
  return `/a/${encodeURIComponent(token)}`;
}

/** The path under which people join, below {@link BASE}. `next`: where they go then, with {@link BASE}. */
export function joinPath(token: string, next = ''): string {
  const query = next === '' ? '' : `?${new URLSearchParams({ next })}`;
  return `/join/${encodeURIComponent(token)}${query}`;
}

/** The address of a path of the dashboard. */
export function addressOf(path: string, { publicUrl }: Pick<Visit, 'publicUrl'>): string {
  return `${publicUrl}${BASE}${path}`;
}

export function stateTag(state: keyof typeof LOOKS): Html {
  return html`<span class="tag ${LOOKS[state]}">${texts().assignments.states[state]}</span>`;
}

/** Instructions, with their lines. */
export function instructionText(instructions: string): Html {
  return html`<p class="instructions">${wholeText(instructions)}</p>`;
}

/** When a link stops working, or has stopped. */
export function endOf({ expiresAt, revokedAt }: Pick<AssignmentInfo, 'expiresAt' | 'revokedAt'>): Html {
  const end = revokedAt ?? expiresAt;
  return end === null ? html`${texts().assignments.untilRevoked}` : shownTime(end);
}

export function seatsOf({ taken, seats }: Pick<ClassLinkInfo, 'taken' | 'seats'>): string {
  return texts().assignments.seatsTaken(shownNumber(taken), shownNumber(seats));
}

/** A link that works is revoked, and one that was revoked is removed. */
export function endLink(path: string, { revokedAt, name }: { revokedAt: string | null; name: string }): Html {
  const { assignments: t } = texts();
  const [act, label] = revokedAt === null ? ['revoke', t.revoke] : ['remove', t.remove];
  return html`<a class="phrase" href="${BASE}${path}/${act}">${label}<span class="visually-hidden"> ${name}</span></a>`;
}

/** As {@link endLink}, on the page of the link. */
export function endButton(path: string, { revokedAt }: { revokedAt: string | null }): Html {
  const { assignments: t } = texts();
  const [act, label] = revokedAt === null ? ['revoke', t.revoke] : ['remove', t.remove];
  return html`<a class="button" href="${BASE}${path}/${act}">${label}</a>`;
}

/** Facts that assignments and class links have. */
export function linkFacts(
  link: Pick<AssignmentInfo, 'account' | 'createdAt' | 'expiresAt' | 'revokedAt'>,
  { viewer }: Pick<Visit, 'viewer'>,
): Value {
  const { assignments: t, common } = texts();
  const { account, createdAt, expiresAt, revokedAt } = link;
  return html`<dt>${t.expires}</dt><dd>${expiresAt === null ? t.untilRevoked : shownTime(expiresAt)}</dd>
<dt>${common.created}</dt><dd>${shownTime(createdAt)}</dd>
${revokedAt !== null && html`<dt>${t.revoked}</dt><dd>${shownTime(revokedAt)}</dd>`}
${account !== viewer.email && html`<dt>${common.account}</dt><dd>${account}</dd>`}`;
}
