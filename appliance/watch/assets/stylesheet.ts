/** The stylesheet of the pages of shared videos. */
export const STYLESHEET: string = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f7f7f9, #14151a);
  --surface: light-dark(#ffffff, #1c1e25);
  --sunken: light-dark(#eeeff3, #23262f);
  --line: light-dark(#dfe1e7, #33363f);
  --text: light-dark(#1b1d24, #e9eaee);
  --muted: light-dark(#575c69, #a4a9b6);
  --accent: light-dark(#3d4fc4, #97a5ff);
  --accent-soft: light-dark(#eceefb, #262a44);
}
* { box-sizing: border-box; }
html { font: 400 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
body { margin: 0; background: var(--ground); color: var(--text); }
h1, h2, p, dl, dd, ul, ol { margin: 0; padding: 0; }
ul, ol { list-style: none; }
h1 { font-size: 1.5rem; line-height: 1.25; font-weight: 650; letter-spacing: -0.015em; overflow-wrap: anywhere; }
h2 { font-size: 0.9375rem; font-weight: 620; margin-bottom: 0.5rem; }
a { color: var(--accent); }
[hidden] { display: none !important; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.muted { color: var(--muted); font-size: 0.875rem; }
video { display: block; background: #000; }
.watch main { max-width: 80rem; margin: 0 auto; padding-bottom: 4rem; }
.stage { background: #000; overflow: hidden; }
.stage video { width: 100%; height: auto; max-height: min(78vh, 50rem); margin: 0 auto; }
.gone { color: #e9eaee; padding: 5rem 1.5rem; text-align: center; }
.below { display: grid; gap: 2rem; padding: 1.25rem; }
article { display: grid; gap: 1.25rem; align-content: start; min-width: 0; }
article header { display: flex; flex-wrap: wrap; gap: 0.75rem 1.5rem; align-items: end; justify-content: space-between; }
article header > div:first-child { flex: 1 1 16rem; min-width: 0; }
.description { white-space: pre-line; overflow-wrap: anywhere; max-width: 44rem; }
.tools { position: relative; display: flex; flex-wrap: wrap; gap: 0.75rem; align-items: center; font-size: 0.9375rem; }
.button, select { font: inherit; font-size: 0.9375rem; line-height: 1.4; padding: 0.4rem 0.9rem; border-radius: 7px; border: 1px solid var(--line); background: var(--surface); color: var(--text); cursor: pointer; text-decoration: none; display: inline-block; }
select { padding-inline: 0.5rem; }
.button:hover { background: var(--sunken); }
.turns { display: flex; gap: 0.75rem; }
.menu summary { list-style: none; }
.menu summary::-webkit-details-marker { display: none; }
.menu ul { position: absolute; left: 0; z-index: 1; margin-top: 0.35rem; min-width: 16rem; max-width: calc(100vw - 2.5rem); max-height: 20rem; overflow: auto; padding: 0.4rem; background: var(--surface); border: 1px solid var(--line); border-radius: 10px; box-shadow: 0 6px 24px rgb(0 0 0 / 0.14); }
.menu li { display: flex; justify-content: space-between; gap: 1rem; align-items: baseline; padding: 0.35rem 0.5rem; }
.keys { color: var(--muted); font-size: 0.875rem; }
.keys summary { cursor: pointer; width: fit-content; }
.keys dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.2rem 1.25rem; margin-top: 0.6rem; }
.keys dt { color: var(--text); font-variant-numeric: tabular-nums; }
aside { display: grid; gap: 1.75rem; align-content: start; min-width: 0; }
aside:empty { display: none; }
aside ol { border: 1px solid var(--line); border-radius: 10px; background: var(--surface); max-height: 26rem; overflow: auto; padding: 0.3rem; }
aside li a { display: grid; grid-template-columns: minmax(2.75rem, max-content) minmax(0, 1fr); gap: 0.6rem; padding: 0.45rem 0.6rem; border-radius: 7px; color: var(--text); text-decoration: none; overflow-wrap: anywhere; font-size: 0.9375rem; }
aside li a:hover { background: var(--sunken); }
aside li a[aria-current="true"], aside li a[aria-current="page"] { background: var(--accent-soft); color: var(--accent); font-weight: 560; }
aside time, .number { color: var(--muted); font-variant-numeric: tabular-nums; font-weight: 400; }
.none { max-width: 36rem !important; padding: 20vh 1.5rem 4rem !important; display: grid; gap: 0.75rem; }
.none p { color: var(--muted); }
.embed { background: #000; height: 100vh; overflow: hidden; }
.embed video { width: 100%; height: 100%; object-fit: contain; }
.embed .title { position: absolute; inset: 0 0 auto; padding: 0.75rem 1rem 2rem; color: #fff; font-weight: 560; text-decoration: none; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; background: linear-gradient(rgb(0 0 0 / 0.65), transparent); opacity: 0; transition: opacity 0.2s; }
.embed:hover .title, .embed .title:focus-visible { opacity: 1; }
.embed .gone { padding-top: 30vh; }
@media (min-width: 52rem) {
  .watch main { padding: clamp(0rem, 2.5vw, 2rem) clamp(0rem, 2.5vw, 2rem) 4rem; }
  .menu { position: relative; }
  .menu ul { left: auto; right: 0; }
  .stage { border-radius: 12px; }
  .below { padding-inline: 0; }
  .below:has(aside:not(:empty)) { grid-template-columns: minmax(0, 1fr) 20rem; }
}
@media (prefers-reduced-motion: reduce) { .embed .title { transition: none; } }
`;
