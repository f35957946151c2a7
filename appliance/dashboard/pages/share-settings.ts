import type { ShareSettings } from '../../../lib/client/index.ts';
import type { Play } from '../../../lib/index.ts';
import { SHARE_VISIBILITIES, type SharePoster } from '../../../lib/internal.ts';
import type { ShareInfo } from '../../admin/share-views.ts';
import { type Html, html, wholeText } from '../html.ts';
import { texts } from '../language/texts.ts';
import { csrfField } from '../layout.ts';
import { BASE, type Visit } from '../route.ts';
import { sharePath, videoName } from './share-views.ts';
import { timeField, utcTime } from './times.ts';

/** Plays that the form offers for a poster. */
const MOST_PLAYS = 100;
/** Characters of what a play shows. */
const LONGEST_PLAY = 60;
const DAY_SECONDS = 24 * 60 * 60;

/** The fields of the form, as texts. */
type Fields = Readonly<Record<string, string | undefined>>;

/** The form with the settings of a share. `given`: what was sent and refused. `back`: the path of the page to return to. */
export function settingsForm(
  share: ShareInfo & { plays: Play[] },
  { csrf }: Pick<Visit, 'csrf'>,
  { given, back = '', look }: { given?: Fields; back?: string; look: 'stack' | 'fields' },
): Html {
  const { shares: t, common } = texts();
  const fields = given ?? fieldsOf(share);
  return html`<form method="post" action="${BASE}${sharePath(share.shareId)}" class="${look}">${csrfField(csrf)}<input type="hidden" name="back" value="${back}">
<label><span>${t.name} <span class="hint">${t.nameHint}</span></span><input name="title" value="${fields['title']}" placeholder="${videoName(share.first)}" maxlength="200" autocomplete="off"></label>
<label><span>${t.description} <span class="hint">${t.descriptionHint}</span></span><textarea name="description" rows="3" maxlength="5000">
${wholeText(fields['description'] ?? '')}</textarea></label>
<label>${t.visibility}<select name="visibility">${SHARE_VISIBILITIES.map(
    (one) =>
      html`<option value="${one}" ${one === fields['visibility'] && 'selected'}>${t.visibilities[one]}</option>`,
  )}</select></label>
${timeField(t.expires, 'expires', fields['expires'], { hint: t.expiresHint })}
<div class="poster">${posterField(share.plays, fields)}</div>
<label class="check"><input type="checkbox" name="allowDownload" value="yes" ${fields['allowDownload'] === 'yes' && 'checked'}> ${t.allowDownload}</label>
<div class="actions"><button class="primary">${common.save}</button></div></form>`;
}

/** The seconds are asked for where they are chosen, which the stylesheet sees to. */
function posterField(plays: Play[], fields: Fields): Html {
  const { shares: t } = texts();
  const chosen = fields['poster'] ?? '';
  const offered = plays
    .slice(0, MOST_PLAYS)
    .map(({ shows }, at): [string, string] => [`play:${at}`, t.afterPlay(at + 1, short(shows))]);
  const options: [string, string][] = [['', t.thumbnail], ['seconds', t.atTime], ...offered];
  const play = playIn(chosen);
  if (play !== undefined && play >= offered.length) options.push([chosen, t.afterPlayNumber(play + 1)]);
  return html`<label>${t.poster}<select name="poster">${options.map(
    ([value, shown]) => html`<option value="${value}" ${value === chosen && 'selected'}>${shown}</option>`,
  )}</select></label>
<label class="at">${t.seconds}<input type="number" name="posterSeconds" value="${fields['posterSeconds']}" min="0" max="${DAY_SECONDS}" step="any"></label>`;
}

function short(shows: string): string {
  return shows.length <= LONGEST_PLAY ? shows : `${shows.slice(0, LONGEST_PLAY).toWellFormed()}…`;
}

function fieldsOf({ title, description, visibility, expiresAt, poster, allowDownload }: ShareInfo): Fields {
  return {
    ...{ title: title ?? '', description: description ?? '', visibility, expires: expiresAt ?? '' },
    poster: poster === null ? '' : 'seconds' in poster ? 'seconds' : `play:${poster.play}`,
    posterSeconds: poster !== null && 'seconds' in poster ? String(poster.seconds) : '',
    allowDownload: allowDownload ? 'yes' : '',
  };
}

/** The settings that a form asks for. A time that it does not change may have passed. */
export function settingsOf(form: Fields, { expiresAt }: Pick<ShareInfo, 'expiresAt'>): ShareSettings {
  const expires = utcTime(form['expires']?.trim() ?? '');
  return {
    title: form['title']?.trim() || null,
    description: form['description']?.replaceAll('\r\n', '\n').trim() || null,
    // Checked by the library.
    visibility: form['visibility'] as NonNullable<ShareSettings['visibility']>,
    poster: posterOf(form),
    allowDownload: form['allowDownload'] === 'yes',
    ...(secondOf(expires) !== secondOf(expiresAt ?? '') && { expiresAt: expires || null }),
  };
}

/** What is wrong with settings, for people; undefined: nothing that is known before they are saved. */
export function problemOf({ expiresAt, poster }: ShareSettings): string | undefined {
  const { shares: t } = texts();
  if (expiresAt && !(Date.parse(expiresAt) > Date.now())) return t.expiresInThePast;
  if (poster && 'seconds' in poster && !(poster.seconds >= 0 && poster.seconds <= DAY_SECONDS))
    return t.noPosterTime;
  return undefined;
}

/** Forms leave the milliseconds of a time out. */
function secondOf(time: string): number | string {
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? time : Math.floor(ms / 1000);
}

function posterOf({ poster = '', posterSeconds = '' }: Fields): SharePoster | null {
  if (poster === 'seconds') return { seconds: Number.parseFloat(posterSeconds.replace(',', '.')) };
  const play = playIn(poster);
  return play === undefined ? null : { play };
}

function playIn(poster: string): number | undefined {
  const [, number] = /^play:(\d{1,6})$/.exec(poster) ?? [];
  return number === undefined ? undefined : Number(number);
}
