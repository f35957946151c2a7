/** The one stylesheet of the dashboard. Built in as text, because the single executable reads no loose files. */
export const STYLESHEET: string = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f7f7f9, #14151a);
  --surface: light-dark(#ffffff, #1c1e25);
  --sunken: light-dark(#f0f1f4, #101116);
  --line: light-dark(#dfe1e7, #33363f);
  --text: light-dark(#1b1d24, #e9eaee);
  --muted: light-dark(#575c69, #a4a9b6);
  --accent: light-dark(#3d4fc4, #97a5ff);
  --accent-ground: light-dark(#3d4fc4, #4a5ad0);
  --accent-soft: light-dark(#eceefb, #262a44);
  --good: light-dark(#14683f, #6fd3a1);
  --good-soft: light-dark(#e3f4ea, #17352a);
  --bad: light-dark(#a92525, #ff9b94);
  --bad-soft: light-dark(#fbe9e8, #43201f);
  --warn: light-dark(#7c4d00, #f0bf6d);
  --warn-soft: light-dark(#fbf0db, #3b2d14);
  --code-line: light-dark(#f4f5f9, #22252e);
  --code-selection: light-dark(#d5dbfa, #363d66);
  --code-keyword: light-dark(#7a3ea8, #cfa3f7);
  --code-string: light-dark(#1c6b45, #8fd6a6);
  --code-number: light-dark(#a04a00, #f2b27a);
  --code-comment: light-dark(#636876, #989eac);
  --code-name: light-dark(#1f4fb0, #8fb8ff);
  --code-call: light-dark(#23567e, #8fc7e8);
  --code-self: light-dark(#96304f, #f09cb4);
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  --mono: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  --small: 0.8125rem;
  --large: 1.125rem;
  --title: 1.625rem;
  --radius: 10px;
}
* { box-sizing: border-box; }
html { font: 400 0.9375rem/1.55 var(--sans); }
body { margin: 0; background: var(--ground); color: var(--text); }
h1, h2, h3, p, dl, dd, ul, ol, figure { margin: 0; padding: 0; }
h1 { font-size: var(--title); line-height: 1.25; font-weight: 650; letter-spacing: -0.015em; }
h2 { font-size: var(--large); line-height: 1.35; font-weight: 620; letter-spacing: -0.005em; }

a { color: var(--accent); text-underline-offset: 0.18em; text-decoration-thickness: 1px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
code, pre, .mono { font-family: var(--mono); font-size: 0.875em; }
code { overflow-wrap: anywhere; }
time, .number { font-variant-numeric: tabular-nums; }
.muted { color: var(--muted); }
.faint { color: var(--muted); }
.small { font-size: var(--small); }
h1, h2 { overflow-wrap: anywhere; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: 0.5rem; z-index: 2; background: var(--surface); padding: 0.5rem 1rem; }
.visually-hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
[hidden] { display: none !important; }

.shell { display: grid; grid-template-columns: 13.5rem minmax(0, 1fr); min-height: 100vh; }
.side { display: flex; flex-direction: column; gap: 1.5rem; padding: 1.5rem 1rem; border-right: 1px solid var(--line); background: var(--surface); position: sticky; top: 0; height: 100vh; }
.brand { display: flex; align-items: center; gap: 0.6rem; padding: 0 0.625rem; font-weight: 680; font-size: 1.0625rem; letter-spacing: -0.01em; color: var(--text); text-decoration: none; }
.brand svg { width: 1.5rem; height: 1.5rem; flex: none; color: var(--accent); }
.nav { display: flex; flex-direction: column; gap: 2px; list-style: none; }
.nav a { display: block; padding: 0.4rem 0.625rem; border-radius: 7px; color: var(--muted); text-decoration: none; font-weight: 520; }
.nav a:hover { background: var(--sunken); color: var(--text); }
.nav a[aria-current] { background: var(--accent-soft); color: var(--accent); font-weight: 600; }
.person { margin-top: auto; padding: 0 0.625rem; font-size: var(--small); display: grid; gap: 0.35rem; }
.person .email { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; color: var(--muted); }
.main { padding: 2rem 2.25rem 4rem; max-width: 114rem; width: 100%; display: grid; gap: 1.75rem; align-content: start; grid-template-columns: minmax(0, 1fr); }
.main > footer { display: flex; flex-wrap: wrap; gap: 0.35rem 1.25rem; }
.main > footer :is(a, button.link) { color: var(--muted); }
.head { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0.75rem 1.5rem; }
.head > div:first-child { min-width: 0; flex: 1 1 20rem; }
.head p { color: var(--muted); margin-top: 0.25rem; max-width: 42rem; }

.card { background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); padding: 1.25rem 1.375rem; display: grid; gap: 1rem; align-content: start; grid-template-columns: minmax(0, 1fr); }
.card > p, .card > .stack > p { max-width: 48rem; overflow-wrap: anywhere; }
.card.flush { padding: 0; gap: 0; overflow: hidden; }
.card.flush > header { padding: 1.125rem 1.375rem 0.875rem; }
.card.flush > .actions { padding: 0 1.375rem 1.125rem; }
.card.flush > p { padding: 0.875rem 1.375rem; border-top: 1px solid var(--line); }
.card > header { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; align-items: baseline; justify-content: space-between; }
.row { display: grid; gap: 1.25rem; grid-template-columns: repeat(auto-fit, minmax(min(15rem, 100%), 1fr)); }
.figures { display: flex; flex-wrap: wrap; gap: 1px; background: var(--line); border: 1px solid var(--line); border-radius: var(--radius); overflow: hidden; }
.figures > div { flex: 1 1 min(11rem, 50% - 1px); background: var(--surface); padding: 1rem 1.25rem; }
.figures dt { color: var(--muted); font-size: var(--small); }
.figures dd { font-size: var(--title); font-weight: 640; letter-spacing: -0.02em; font-variant-numeric: tabular-nums; line-height: 1.3; }
.figures dd small { display: block; font-size: var(--small); font-weight: 400; letter-spacing: 0; color: var(--muted); line-height: 1.45; }

.scroll { overflow-x: auto; position: relative; }
table { border-collapse: collapse; width: 100%; }
th { text-align: left; font-size: var(--small); font-weight: 560; color: var(--muted); white-space: nowrap; }
th, td { padding: 0.625rem 0.75rem; border-top: 1px solid var(--line); vertical-align: top; }
thead th { border-top: 0; padding-block: 0.5rem; border-bottom: 1px solid var(--line); background: var(--sunken); }
tbody tr:first-child > * { border-top: 0; }
th:first-child, td:first-child { padding-left: 1.375rem; }
th:last-child, td:last-child { padding-right: 1.375rem; }
.end { text-align: right; }
td.end, .tight { white-space: nowrap; }
time { white-space: nowrap; }
.clip { display: block; font-weight: 400; max-width: 26rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.fill { width: 100%; max-width: 0; }
.phrase { white-space: nowrap; }
.clip.short { max-width: 10rem; }
.rowhead { font-weight: 530; }
tbody th.rowhead { font-size: inherit; color: inherit; white-space: normal; }
tbody th.rowhead:has(a) { overflow-wrap: anywhere; min-width: 12rem; }

.tag { display: inline-block; padding: 0.05rem 0.55rem; line-height: 1.5; border-radius: 99px; font-size: var(--small); font-weight: 560; white-space: nowrap; background: var(--sunken); color: var(--muted); }
.tag::before { content: ""; display: inline-block; vertical-align: 0.12em; margin-right: 0.4em; width: 0.45em; height: 0.45em; border-radius: 50%; background: currentColor; }
.tag.good { background: var(--good-soft); color: var(--good); }
.tag.bad { background: var(--bad-soft); color: var(--bad); }
.tag.busy { background: var(--accent-soft); color: var(--accent); }
.tag.warn { background: var(--warn-soft); color: var(--warn); }

.button, button { font: inherit; font-weight: 560; line-height: 1.4; padding: 0.4rem 0.9rem; border-radius: 7px; border: 1px solid var(--line); background: var(--surface); color: var(--text); cursor: pointer; text-decoration: none; display: inline-block; white-space: nowrap; }
.button:hover, button:hover { background: var(--sunken); }
.button.primary, button.primary { background: var(--accent-ground); border-color: transparent; color: #fff; }
.button.primary:hover, button.primary:hover { filter: brightness(1.08); }
button.danger { background: light-dark(#b42a2a, #a83a38); border-color: transparent; color: #fff; }
button.danger:hover { filter: brightness(1.08); }
button.link { all: unset; cursor: pointer; color: var(--accent); text-decoration: underline; text-underline-offset: 0.18em; text-decoration-thickness: 1px; }
button.link:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.actions { display: flex; flex-wrap: wrap; gap: 0.625rem; align-items: center; }
td .actions { justify-content: flex-end; gap: 0.875rem; flex-wrap: nowrap; }

form.actions { flex-wrap: nowrap; }
form.stack, .stack { display: grid; gap: 1rem; grid-template-columns: minmax(0, 1fr); }
.part { display: contents; }
.fields { display: flex; flex-wrap: wrap; gap: 0.875rem; align-items: end; }
.fields > label, .fields > .field { flex: 1 1 11rem; max-width: 32rem; }
label, .field { display: grid; gap: 0.3rem; font-weight: 560; font-size: var(--small); }
label .hint, legend .hint { font-weight: 400; color: var(--muted); }
fieldset { margin: 0; padding: 0; border: 0; }
legend { padding: 0 0 0.3rem; }
input, select, textarea { font: inherit; font-size: 0.9375rem; font-weight: 400; width: 100%; padding: 0.45rem 0.65rem; border: 1px solid light-dark(#8d919c, #6c7180); border-radius: 7px; background: var(--surface); color: var(--text); }
input:not([type="checkbox"]), select { height: 2.375rem; }
label.check { display: flex; align-items: center; gap: 0.45rem; font-weight: 400; }
label.check input { width: auto; }
input[readonly] { background: var(--sunken); }
input:focus-visible, select:focus-visible { outline-offset: 0; border-radius: 7px; }

.note { border-radius: var(--radius); padding: 0.75rem 1rem; background: var(--accent-soft); overflow-wrap: anywhere; }
p.hint { margin: 0; padding: 0.5rem 0.75rem; border-left: 3px solid var(--accent); overflow-wrap: anywhere; }
.note.good { background: var(--good-soft); color: var(--good); }
.note.bad { background: var(--bad-soft); color: var(--bad); }
.note.warn { background: var(--warn-soft); color: var(--warn); }
.empty { padding: 2.5rem 1.5rem; text-align: center; display: grid; gap: 0.5rem; justify-items: center; color: var(--muted); }
.empty h2 { color: var(--text); }
.empty p { max-width: 32rem; }
.empty .button { margin-top: 0.5rem; }

.secret { display: grid; gap: 0.35rem; grid-template-columns: minmax(0, 1fr); }
.secret > div { display: flex; gap: 0.5rem; align-items: stretch; }
.secret code, pre { background: var(--sunken); border: 1px solid var(--line); border-radius: 7px; padding: 0.5rem 0.75rem; }
.secret code { flex: 1; min-width: 0; user-select: all; }
pre { margin: 0; overflow-x: auto; line-height: 1.55; tab-size: 4; }
pre.wrap { white-space: pre-wrap; overflow-wrap: anywhere; }
pre mark { background: var(--bad-soft); color: inherit; display: inline-block; min-width: 100%; }
pre .code { display: inline-block; min-width: 100%; }
pre .code:target, pre .code.played { background: var(--accent-soft); }
pre .hidden-character { color: var(--bad); background: var(--bad-soft); border-radius: 3px; unicode-bidi: isolate; }
.source { display: flex; background: var(--sunken); border: 1px solid var(--line); border-radius: 7px; }
.source pre { flex: 1; min-width: 0; background: none; border: 0; }
.source .lines { flex: none; min-width: 3ch; padding-right: 0; color: var(--muted); user-select: none; text-align: right; }

.pairing { display: flex; flex-wrap: wrap; gap: 1.5rem; }
.pairing > .stack { flex: 1 1 16rem; min-width: 0; }
.qr { flex: none; max-width: 100%; height: auto; border-radius: 7px; }
#recovery-codes { white-space: pre-line; }
.details { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.5rem 1.5rem; }
.details dt { color: var(--muted); }
.details dd { overflow-wrap: anywhere; }
.usage { display: grid; gap: 0.25rem; font-size: var(--small); color: var(--muted); }
.usage meter { appearance: none; width: 100%; height: 0.5rem; border: 0; border-radius: 99px; overflow: hidden; background: var(--sunken); }
.usage meter::-webkit-meter-inner-element, .usage meter::-webkit-meter-bar { height: 0.5rem; border: 0; border-radius: 99px; background: var(--sunken); }
.usage meter::-webkit-meter-optimum-value { background: var(--accent); }
.usage meter::-webkit-meter-suboptimum-value { background: var(--bad); }
.usage meter::-moz-meter-bar { background: var(--accent); }
.usage meter:-moz-meter-sub-optimum::-moz-meter-bar { background: var(--bad); }
.columns { display: grid; gap: 1.25rem; grid-template-columns: minmax(0, 1.7fr) minmax(0, 1fr); align-items: start; }
.columns > * { min-width: 0; }
/* Below the first column; in one column behind the second. */
.columns > .part { display: grid; grid-template-columns: minmax(0, 1fr); }
@media (min-width: 56.01rem) {
  .columns:has(> .part) { grid-template-rows: auto 1fr; row-gap: 1rem; }
  .columns > .stack:has(+ .part) { grid-row: span 2; }
  .columns > .part { grid-column: 1; }
}
video { width: 100%; max-height: 70vh; border-radius: 8px; background: #000; display: block; }
.list { list-style: none; display: grid; }
.list > li { padding: 0.75rem 1.375rem; border-top: 1px solid var(--line); display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; align-items: baseline; justify-content: space-between; }
.list > li > :first-child { min-width: 0; overflow-wrap: anywhere; }
.list > .running { align-items: center; flex-wrap: nowrap; }
.list > .running > span:first-of-type { flex: 1; min-width: 0; overflow-wrap: anywhere; }
.thumb { flex: none; width: 7rem; aspect-ratio: 16 / 9; border-radius: 6px; overflow: hidden; background: var(--sunken); }
.thumb img { width: 100%; height: 100%; object-fit: cover; display: block; }
.list .clip { white-space: normal; max-width: none; }
.filters { display: flex; flex-wrap: wrap; gap: 0.375rem; }
.filters a { padding: 0.25rem 0.75rem; border-radius: 99px; border: 1px solid var(--line); text-decoration: none; color: var(--muted); font-weight: 540; font-size: var(--small); background: var(--surface); }
.filters a[aria-current] { background: var(--accent-soft); border-color: transparent; color: var(--accent); }
.stack.dense { gap: 0.75rem; }
details.more { gap: 0; padding: 0; display: block; }
details.more > summary { padding: 0.6rem 1rem; font-weight: 560; font-size: var(--small); cursor: pointer; border-radius: var(--radius); }
details.more > .fields, details.more > .body { padding: 0.25rem 1rem 1rem; }
details.more > .fields { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(13rem, 100%), 1fr)); }
details.more > .fields > label { grid-template-columns: minmax(0, 1fr); }
.fields > label.wide { flex-grow: 2; }
.toolbar { display: flex; flex-wrap: wrap; gap: 0.75rem; align-items: center; justify-content: space-between; }
.toolbar select { width: auto; height: 1.875rem; max-width: 16rem; padding-block: 0.25rem; font-size: var(--small); }
.toolbar button { padding: 0.2rem 0.7rem; font-size: var(--small); }
.chart { display: grid; gap: 0.25rem; grid-template-columns: minmax(0, 1fr); }
.chart svg { width: 100%; height: 9rem; border-block: 1px solid var(--line); fill: var(--accent); }
.chart rect:hover { fill: var(--text); }
.chart figcaption { display: flex; justify-content: space-between; }
summary { cursor: pointer; }
.meters { display: grid; gap: 0.625rem; }
.meters > div { display: grid; grid-template-columns: 1fr auto; gap: 0.125rem 1rem; }
.meters dt { color: var(--muted); }
.meters .bar { grid-column: 1 / -1; line-height: 0; }
progress { appearance: none; width: 100%; height: 4px; border: 0; border-radius: 2px; background: var(--sunken); overflow: hidden; }
progress::-webkit-progress-bar { background: var(--sunken); }
progress::-webkit-progress-value { background: var(--accent); }
progress::-moz-progress-bar { background: var(--accent); }
.attempts { width: 100%; padding: 0; list-style: none; }
.attempts li { display: flex; justify-content: space-between; gap: 1rem; }
.steps { display: grid; gap: 1.25rem; grid-template-columns: minmax(0, 1fr); padding-left: 1.375rem; }
.steps > li { padding-left: 0.375rem; }
.steps > li::marker { color: var(--muted); font-weight: 560; }
.steps pre { margin-top: 0.5rem; }
.bulk { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: center; padding: 0.625rem 0.75rem 0.625rem 1.375rem; border-bottom: 1px solid var(--line); }
.bulk label { margin-right: auto; }
.bulk button { padding: 0.2rem 0.7rem; font-size: var(--small); }
th.pick, td.pick { width: 1px; padding-right: 0; }
input[type="checkbox"] { width: 1rem; height: 1rem; margin: 0; accent-color: var(--accent-ground); vertical-align: -0.15em; }
.paging:not(:has(a)) { display: none; }
.paging { display: flex; justify-content: space-between; gap: 1rem; }

.playground { display: grid; gap: 1.25rem; grid-template-columns: minmax(0, 1.5fr) minmax(0, 1fr); align-items: start; }
#problem:empty { display: none; }
.playground .toolbar { display: flex; flex-wrap: wrap; gap: 0.625rem 0.75rem; align-items: end; padding: 0.75rem 1rem; border-bottom: 1px solid var(--line); }
.playground .toolbar label { flex: 0 1 auto; font-weight: 500; color: var(--muted); }
.playground .toolbar label:first-child { flex: 1 1 6rem; min-width: 0; }
.playground .toolbar select, .playground .toolbar input { height: 2.125rem; padding: 0.35rem 0.5rem; }
.playground .toolbar input { width: 4.5rem; }
.playground .toolbar .actions { margin-left: auto; }
.playground .toolbar button { height: 2.125rem; padding-inline: 1.25rem; }
.playground .toolbar button[aria-busy="true"] { opacity: 0.6; }
.playground textarea { border: 0; border-radius: 0; font: 0.8125rem/1.6 var(--mono); padding: 0.75rem 1rem; resize: vertical; display: block; tab-size: 4; }
.playground textarea:focus-visible { outline-offset: -2px; }
.editor { height: clamp(20rem, calc(100vh - 19rem), 52rem); }
.editor { position: relative; }
.editor:focus-within::after { content: ""; position: absolute; inset: 0; z-index: 300; border: 2px solid var(--accent); pointer-events: none; }
.card.flush > .keys { padding: 0.5rem 1rem; }
.playground .params { padding: 0.75rem 1rem; border-bottom: 1px solid var(--line); }
.playground .params legend { float: left; width: 100%; font-weight: 560; }
.playground .params .fields { clear: both; display: grid; grid-template-columns: repeat(auto-fill, minmax(min(14rem, 100%), 1fr)); align-items: end; }
.playground .params textarea { border: 1px solid light-dark(#8d919c, #6c7180); border-radius: 7px; padding: 0.45rem 0.65rem; min-height: 2.375rem; line-height: 1.35; resize: vertical; }
.playground .params label.check { min-height: 2.375rem; flex-wrap: wrap; }
.playground .params :invalid { outline: 2px solid var(--bad); }
.keys button { margin-right: 0.75rem; }
.picker { width: min(34rem, calc(100vw - 2rem)); max-height: min(36rem, calc(100vh - 2rem)); padding: 1.25rem; border: 1px solid var(--line); border-radius: var(--radius); background: var(--surface); color: var(--text); }
.picker[open] { display: grid; gap: 0.75rem; grid-template-rows: auto auto minmax(0, 1fr) auto; }
.picker::backdrop { background: rgb(0 0 0 / 0.45); }
.picker p:empty { display: none; }
.picker header { display: flex; justify-content: space-between; align-items: baseline; }
.picker ul { overflow-y: auto; margin: 0; padding: 0; }
.picker ul.list > li { padding: 0; }
.picker li button { display: flex; gap: 0.75rem; align-items: center; width: 100%; padding: 0.4rem 0.5rem; border: 0; border-radius: 7px; background: none; color: var(--text); text-align: left; font-weight: 400; }
.picker li button:hover, .picker li button:focus-visible { background: var(--accent-soft); }
.picker li button > :nth-child(2) { flex: 1; min-width: 0; overflow-wrap: anywhere; }
.search { margin-bottom: 1rem; }
.search input { flex: 1 1 12rem; max-width: 24rem; }
.kept { padding: 0.5rem 1rem; background: var(--accent-soft); }
.kept > span { display: inline-flex; }
kbd { font: 500 0.75rem/1 var(--sans); padding: 0.1rem 0.35rem; border: 1px solid var(--line); border-bottom-width: 2px; border-radius: 4px; background: var(--surface); color: var(--text); }
.picture { aspect-ratio: 16 / 9; max-height: 70vh; margin-inline: auto; width: 100%; background: var(--sunken); border-radius: 8px; overflow: hidden; display: grid; place-items: center; }
.picture.portrait { aspect-ratio: 9 / 16; width: auto; height: 60vh; }
.picture img { width: 100%; height: 100%; object-fit: contain; display: block; background: #000; }
.sheet { display: block; width: 100%; height: auto; border-radius: 8px; background: #000; }
#inspection:empty, #inspection:not(:empty) + #result:not(:has([data-job])) { display: none; }
.findings { display: grid; gap: 0.875rem; padding-left: 1.25rem; grid-template-columns: minmax(0, 1fr); }
.findings li { overflow-wrap: anywhere; }
.findings .hint { margin-top: 0.375rem; }
.findings details { margin-top: 0.375rem; }
.findings summary { cursor: pointer; color: var(--muted); }
.findings img { display: block; margin-top: 0.375rem; max-width: 100%; border-radius: 8px; background: #000; }
.findings .error::marker { color: var(--bad); }
.stages { list-style: none; display: flex; gap: 0.375rem; }
.stages li { flex: 1; padding-top: 0.4rem; border-top: 3px solid var(--line); color: var(--muted); text-transform: capitalize; }
.stages[data-stage="loading"] li[data-stage="loading"],
.stages[data-stage="rendering"] li:is([data-stage="loading"], [data-stage="rendering"]),
.stages[data-stage="finishing"] li { border-color: var(--accent); color: var(--text); }

.timeline { display: grid; gap: 0.5rem; }
.timeline svg { display: block; width: 100%; height: 1.5rem; border-radius: 5px; background: var(--sunken); overflow: hidden; }
.timeline rect { fill: light-dark(#b7c0f0, #4d5aa5); cursor: pointer; }
.timeline rect.wait { fill: light-dark(#dcdfea, #393d4d); }
.timeline rect:hover { fill: light-dark(#93a0e6, #6473c9); }
.timeline rect.now { fill: light-dark(#5c6dd8, #7f8ff0); }
.timeline rect.head { fill: var(--text); pointer-events: none; }
.timeline summary { cursor: pointer; color: var(--muted); font-weight: 540; }
.plays { list-style: none; max-height: 15rem; overflow-y: auto; position: relative; margin-top: 0.375rem; border: 1px solid var(--line); border-radius: 8px; }
.plays li { display: flex; gap: 0.75rem; align-items: baseline; justify-content: space-between; padding: 0 0.75rem 0 0; }
.plays li + li { border-top: 1px solid var(--line); }
.plays li.now { background: var(--accent-soft); }
.plays button { all: unset; cursor: pointer; display: flex; gap: 0.75rem; padding: 0.3rem 0.75rem; flex: 1; min-width: 0; overflow-wrap: anywhere; }
.plays button:hover span:last-child { text-decoration: underline; text-underline-offset: 0.18em; }
.plays button:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; border-radius: 6px; }
.plays .number { color: var(--muted); flex: none; }
.plays a { white-space: nowrap; }

.gallery { list-style: none; display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(min(10.5rem, 100%), 1fr)); }
.gallery a { display: grid; gap: 0.4rem; text-decoration: none; color: var(--text); font-size: var(--small); font-weight: 530; border-radius: 8px; }
.gallery img { width: 100%; height: auto; aspect-ratio: 16 / 9; object-fit: cover; border-radius: 8px; background: #000; display: block; border: 1px solid var(--line); }
.gallery a:hover span { text-decoration: underline; text-underline-offset: 0.18em; }
.gallery a:hover img { border-color: var(--accent); }
.snippet + .snippet { border-top: 1px solid var(--line); }
.snippet summary { padding: 0.75rem 1.25rem; cursor: pointer; font-weight: 560; }
.snippet > div { padding: 0 1.25rem 1.25rem; gap: 0.625rem; }
.snippet pre { max-height: 22rem; overflow: auto; }

.file { display: flex; gap: 0.75rem; align-items: center; }
.file > :last-child { min-width: 0; overflow-wrap: anywhere; }
.icon { flex: none; width: 2.25rem; height: 2.25rem; border-radius: 6px; background: var(--sunken); color: var(--muted); overflow: hidden; display: grid; place-items: center; font-size: 0.6875rem; font-weight: 560; }
.icon img { width: 100%; height: 100%; object-fit: contain; display: block; }
tr:has(.file) td { vertical-align: middle; }
.shown { display: block; justify-self: center; max-width: 100%; max-height: 60vh; border-radius: 8px; background: repeating-conic-gradient(#e4e4e4 0 25%, #fff 0 50%) 0 0 / 1.25rem 1.25rem; }
audio { width: 100%; display: block; }
.uploads { list-style: none; max-height: 20rem; overflow-y: auto; display: grid; gap: 0.5rem; font-size: var(--small); }
.uploads li { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0.125rem 1rem; }
.uploads li > span { overflow-wrap: anywhere; }
.uploads li > span + span { color: var(--muted); }
.uploads li[data-state="done"] > span + span { color: var(--good); }
.uploads li[data-state="failed"] { grid-template-columns: minmax(0, 1fr); }
.uploads li[data-state="failed"] > span + span { color: var(--bad); }
.uploads progress { grid-column: 1 / -1; }
.dropping::after { content: "Drop to upload"; position: fixed; inset: 0.75rem; z-index: 400; display: grid; place-items: center; border: 2px dashed var(--accent); border-radius: var(--radius); background: color-mix(in srgb, var(--accent-soft) 85%, transparent); color: var(--accent); font-size: var(--title); font-weight: 640; pointer-events: none; }
.note ul { padding-left: 1.25rem; }

.connection { position: fixed; right: 1rem; bottom: 1rem; }
.connection:not(:empty) { z-index: 2; padding: 0.375rem 0.875rem; border: 1px solid var(--line); border-radius: 99px; background: var(--surface); color: var(--muted); font-size: var(--small); }

.plain { min-height: 100vh; display: grid; place-content: center; padding: 1.5rem; grid-template-columns: minmax(0, 25rem); gap: 1.5rem; }
.plain .brand { padding: 0; justify-content: center; }
.plain .card { padding: 1.75rem; }

@media (max-width: 72rem) {
  .clip { max-width: 13rem; }
}
@media (max-width: 56rem) {
  .shell { grid-template-columns: minmax(0, 1fr); grid-template-rows: auto 1fr; }
  .side { position: static; height: auto; flex-direction: row; flex-wrap: wrap; align-items: center; gap: 0.5rem 1rem; padding: 0.75rem 1rem; border-right: 0; border-bottom: 1px solid var(--line); }
  .brand { padding: 0; }
  .person { margin: 0 0 0 auto; padding: 0; display: flex; gap: 0.875rem; align-items: center; }
  .person .email { display: none; }
  .nav { flex-direction: row; overflow-x: auto; scrollbar-width: none; }
  .side nav { order: 3; width: calc(100% + 2rem); margin-inline: -1rem; }
  .nav li:first-child { padding-left: 0.5rem; }
  .nav li:last-child { padding-right: 0.5rem; }
  .nav a { padding: 0.3rem 0.5rem; }
  .main { padding: 1.25rem 1rem 3rem; gap: 1.25rem; }
  .columns, .playground { grid-template-columns: minmax(0, 1fr); }
  .editor { height: 26rem; }
  .card { padding: 1rem; }
  th:first-child, td:first-child { padding-left: 1rem; }
  th:last-child, td:last-child { padding-right: 1rem; }
  .card.flush > header, .card.flush > p, .card.flush > .actions, .list > li { padding-inline: 1rem; }
}
@media (max-width: 40rem) {
  h1 { font-size: 1.375rem; }
  .figures > div { padding: 0.75rem 1rem; }
  .figures dd { font-size: 1.375rem; }
  table.cards thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table.cards, table.cards tbody { display: block; }
  table.cards tr { display: grid; gap: 0.25rem; padding: 0.875rem 1rem; border-top: 1px solid var(--line); }
  table.cards tbody tr:first-child { border-top: 0; }
  table.cards th, table.cards td { display: flex; justify-content: space-between; gap: 1rem; padding: 0; border: 0; text-align: right; min-width: 0; }
  table.cards td[data-label]::before { content: attr(data-label); color: var(--muted); font-size: var(--small); flex: none; text-align: left; }
  table.cards td:empty { display: none; }
  table.cards tr:has(.pick) { position: relative; padding-left: 2.75rem; }
  table.cards td.pick { position: absolute; left: 1rem; top: 0.875rem; }
  .bulk { padding-left: 1rem; }
  table.cards th.rowhead { text-align: left; display: block; min-width: 0; max-width: none; }
  table.cards td.wide { display: none; }
  table.cards .actions { justify-content: flex-start; }
  .clip, .clip.short { max-width: 60vw; }
  th .clip { max-width: none; }
  .secret > div { flex-wrap: wrap; }
  .gallery { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0.75rem; }
}
@media (prefers-reduced-motion: no-preference) {
  .tag.busy::before { animation: pulse 1.4s ease-in-out infinite; }
  @keyframes pulse { 50% { opacity: 0.25; } }
}
`;
