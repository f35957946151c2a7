import { shownNumber, shownQuality } from '../format.ts';
import { bytesOf, type Html, html, type Value, wholeText } from '../html.ts';
import { texts } from '../language/texts.ts';
import { lineDiff, type Run } from '../line-diff.ts';
import { Lines, withEscapes } from './code-view.ts';
import type { ShownSettings } from './scene-views.ts';

/** With its tags: most of the page. */
const MOST_BYTES = 200_000;
/** Elements: a page with more is slow. */
const MOST_RUNS = 1_500;
/** Lines of each text that are compared; a program has fewer. */
const MOST_LINES = 20_000;
/** Equal lines around those that differ. */
const CONTEXT = 3;
/** The two numbers of a line, and its sign. */
const LINE_BYTES = 16;
/** The element around a run. */
const TAG_BYTES = 40;
const SIGNS = { equal: '  ', removed: '- ', added: '+ ' };

/** A text of a scene with its settings. */
interface Compared extends ShownSettings {
  code: string;
}

/** How one text became another: settings and lines. */
export function differences(before: Compared, after: Compared): Value {
  const { scenes: t, counts } = texts();
  const settings = changedSettings(before, after);
  const [one, other] = [linesOf(before.code), linesOf(after.code)];
  const runs = lineDiff(one.lines, other.lines);
  const countOf = (kind: Run['kind']) =>
    runs.reduce((sum, run) => sum + (run.kind === kind ? run.count : 0), 0);
  const [added, removed] = [countOf('added'), countOf('removed')];
  const isSame = added + removed === 0;
  if (isSame && settings === false)
    return html`<section class="card"><h2>${t.equal}</h2><p class="muted">${t.equalText}</p></section>`;
  return [
    settings,
    html`<section class="card"><header><h2>${texts().job.code}</h2><span class="small muted">${
      isSame ? t.equalCode : t.lines(counts.lines(added), counts.lines(removed))
    }</span></header>${(one.isCut || other.isCut) && html`<p class="small muted">${t.onlyLines(shownNumber(MOST_LINES))}</p>`}${!isSame && hunks(runs, one.lines, other.lines)}</section>`,
  ];
}

function linesOf(code: string): { lines: string[]; isCut: boolean } {
  if (code === '') return { lines: [], isCut: false };
  const lines = new Lines(code);
  const count = Math.min(lines.count, MOST_LINES);
  return { lines: Array.from({ length: count }, (_, index) => lines.at(index)), isCut: count < lines.count };
}

function changedSettings(before: ShownSettings, after: ShownSettings): Html | false {
  const { scenes: t, common, job } = texts();
  const rows: [string, (settings: ShownSettings) => string][] = [
    [t.className, ({ className }) => className || t.noClass],
    [common.quality, ({ quality }) => shownQuality(quality)],
    [t.format, ({ aspectRatio }) => aspectRatio],
    [t.frameRate, ({ fps }) => job.fps(fps)],
    [common.parameters, ({ params }) => params || common.none],
  ];
  const changed = rows.filter(([, of]) => of(before) !== of(after));
  if (changed.length === 0) return false;
  return html`<section class="card"><h2>${t.settings}</h2><dl class="details">${changed.map(
    ([name, of]) => html`<dt>${name}</dt><dd><del>${of(before)}</del> → <ins>${of(after)}</ins></dd>`,
  )}</dl></section>`;
}

/** Lines that differ, each run an element, with equal ones around them; as much as fits. */
function hunks(runs: Run[], before: string[], after: string[]): Value {
  const { scenes: t, counts } = texts();
  const page = new Written();
  for (const [index, run] of runs.slice(0, MOST_RUNS).entries()) {
    if (page.room < 0) break;
    if (run.kind !== 'equal') page.add(run, 0, run.count, run.kind === 'removed' ? before : after);
    else {
      const head = index === 0 ? 0 : CONTEXT;
      const tail = index === runs.length - 1 ? 0 : CONTEXT;
      const left = run.count - head - tail;
      if (left <= 1) page.add(run, 0, run.count, before);
      else {
        page.add(run, 0, head, before);
        page.leaveOut(`⋯ ${t.equalLines(counts.lines(left))}`);
        page.add(run, run.count - tail, run.count, before);
      }
    }
  }
  const isCut = page.room < 0 || runs.length > MOST_RUNS;
  return [
    html`<div class="source diff"><pre class="lines" aria-hidden="true">\n${wholeText(page.olds)}</pre><pre class="lines" aria-hidden="true">\n${wholeText(page.news)}</pre><pre tabindex="0">\n${page.content}</pre></div>`,
    isCut && html`<p class="small muted">${t.isCut}</p>`,
  ];
}

class Written {
  readonly content: Value[] = [];
  /** Numbers of lines, one a line. */
  olds = '';
  news = '';
  /** Bytes that are left. */
  room: number = MOST_BYTES;

  /** Lines of a run, from one to before another. */
  add({ kind, before, after }: Run, from: number, to: number, texts: string[]): void {
    const start = kind === 'added' ? after : before;
    const lines: Value[] = [];
    for (let at = from; at < to && this.room >= 0; at += 1) {
      this.room -= LINE_BYTES;
      const line = texts[start + at] ?? '';
      const { shown, room } = withEscapes(line, Math.max(0, this.room));
      this.room = bytesOf(line) > this.room ? -1 : room;
      lines.push(SIGNS[kind], shown, '\n');
      this.olds += kind === 'added' ? '\n' : `${before + at + 1}\n`;
      this.news += kind === 'removed' ? '\n' : `${after + at + 1}\n`;
    }
    if (lines.length === 0) return;
    this.room -= TAG_BYTES;
    this.content.push(
      kind === 'equal' ? lines : kind === 'added' ? html`<ins>${lines}</ins>` : html`<del>${lines}</del>`,
    );
  }

  /** A line instead of equal ones. */
  leaveOut(text: string): void {
    this.content.push(html`<span class="gap">${text}\n</span>`);
    this.olds += '\n';
    this.news += '\n';
    this.room -= TAG_BYTES + text.length;
  }
}
