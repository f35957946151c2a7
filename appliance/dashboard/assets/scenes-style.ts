/** Styles of scenes: their history, and what was changed in them. */
export const SCENES_STYLE: string = `
.usage.narrow { max-width: 24rem; }
.naming { display: flex; flex-wrap: wrap; gap: 0.625rem; }
.naming input { flex: 1 1 14rem; max-width: 26rem; }
.frame, .version .thumb { text-decoration: none; }
.frame:has(> .none), .version .thumb:has(> .none) { background: var(--sunken); }
.list > .version { display: grid; align-items: center; grid-template-columns: 7rem minmax(0, 1fr) auto; gap: 0.5rem 1rem; }
.version .thumb { background: #000; display: block; width: 100%; }
.version .thumbnail { width: 100%; height: 100%; object-fit: contain; display: block; border-radius: 0; }
.version .thumbnail.none { padding: 0.25rem; font-size: 0.6875rem; display: grid; overflow: hidden; }
.version > div { min-width: 0; }
.version .clip { max-width: none; }
.version .actions { grid-column: 3; justify-content: flex-end; }
.list .actions button { padding: 0.2rem 0.7rem; font-size: var(--small); }
details.more.flush > .list { border-top: 1px solid var(--line); }
ins { text-decoration: none; color: var(--good); }
.details del { color: var(--bad); }
.diff ins, .diff del { display: block; margin-inline: -0.75rem; padding-inline: 0.75rem; text-decoration: none; min-width: max-content; color: inherit; }
.diff ins { background: var(--good-soft); }
.diff del { background: var(--bad-soft); }
.diff .gap { display: block; color: var(--muted); }
.diff .lines { min-width: 4ch; padding-right: 0.375rem; }
.fields > a { padding-block: 0.45rem; }
#compare { gap: 1.25rem; }
.pair { display: grid; gap: 1.25rem; grid-template-columns: repeat(2, minmax(0, 1fr)); }
.pair figure { display: grid; gap: 0.5rem; align-content: start; }
#controls input { flex: 1 1 12rem; width: auto; padding: 0; height: 1.5rem; accent-color: var(--accent-ground); }
#controls output { min-width: 9.5rem; text-align: right; }
#controls [data-do="play"] { min-width: 6.5rem; }
#conflict:empty { display: none; }
.conflict { border-color: var(--warn); }
.conflict summary { color: var(--muted); margin-bottom: 0.75rem; }
.conflict .card { padding: 0; border: 0; }
.conflict .source { max-height: 24rem; overflow: auto; }
#saved { margin-right: 0.75rem; }
@media (max-width: 40rem) {
  .pair { gap: 0.5rem; }
  #controls input { flex-basis: 100%; }
  #controls output { min-width: 0; }
  .list > .version { grid-template-columns: 5rem minmax(0, 1fr); }
  .version .actions { grid-column: 1 / -1; justify-content: flex-start; }
  .diff .lines:first-child { display: none; }
}
`;
