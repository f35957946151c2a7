import type { Finding } from '../../../lib/index.ts';
import type { InspectionInfo } from '../../admin/job-pictures.ts';
import { shownDecimal } from '../format.ts';
import { type Html, html } from '../html.ts';
import { texts } from '../language/texts.ts';
import { note } from '../layout.ts';
import { BASE } from '../route.ts';
import { withCode } from './outcome.ts';

type Picture = InspectionInfo['pictures'][number];

/** What was found in a scene, with its contact sheet. */
export function inspection({ scene, findings, creditsCost, pictures, snapshotId }: InspectionInfo): Html {
  const { job, counts, common } = texts();
  const length =
    scene &&
    html`<span class="small muted">${counts.plays(scene.plays)} · ${common.seconds(shownDecimal(scene.seconds))} · ${counts.credits(creditsCost)}</span>`;
  return html`<section class="card"><header><h2>${job.inspection.title}</h2>${length}</header>${
    snapshotId !== null && sheet(snapshotId, pictures)
  }${findings.length === 0 ? nothing() : html`<ol class="findings">${findings.map((finding) => shown(finding, snapshotId, pictures))}</ol>`}</section>`;
}

function nothing(): Html {
  return note('good', texts().job.inspection.nothing);
}

function sheet(snapshotId: string, pictures: Picture[]): Html {
  const { job, counts } = texts();
  const url = pictureUrl(snapshotId, 'sheet.jpg');
  return html`<a href="${url}" target="_blank" rel="noopener"><img class="sheet" src="${url}" alt="${job.inspection.sheet(counts.pictures(pictures.length))}"></a>`;
}

function shown(finding: Finding, snapshotId: string | null, pictures: Picture[]): Html {
  const t = texts().job.inspection;
  const { severity, message, hint, line } = finding;
  const picture = snapshotId !== null && pictureOf(finding, pictures);
  return html`<li class="${severity}"><p>${
    line !== null && html`<a href="#line-${line}" data-go="${line}">${t.line(line)}</a> `
  }${withCode(message)}</p>${hint !== null && html`<p class="hint">${withCode(hint)}</p>`}${
    picture &&
    html`<details><summary class="small">${t.picture(picture.number)}</summary><img src="${pictureUrl(snapshotId, `picture-${picture.number}.jpg`)}" alt="${t.sceneAt(shownDecimal(picture.seconds))}" loading="lazy"></details>`
  }</li>`;
}

/** The picture that shows it best: of the time at which it was seen, or the next one. */
function pictureOf({ layout }: Finding, pictures: Picture[]): Picture | undefined {
  if (layout === null) return undefined;
  const atLeast = layout.seconds - 0.1;
  return pictures.find(({ seconds }) => seconds >= atLeast) ?? pictures.at(-1);
}

function pictureUrl(snapshotId: string, name: string): string {
  return `${BASE}/pictures/${snapshotId}/${name}`;
}
