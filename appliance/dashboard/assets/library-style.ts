/** Styles of the library: a grid of videos, its search and its star. */
export const LIBRARY_STYLE: string = `
.finder { display: flex; flex-wrap: wrap; gap: 0.5rem 0.625rem; align-items: center; }
.finder input[type="search"] { flex: 1 1 18rem; max-width: 34rem; height: 2.5rem; border-color: var(--line); }
.finder select { width: auto; max-width: 12rem; height: 2.5rem; border-color: var(--line); }
.finder button { height: 2.5rem; }
.finder details { flex: none; }
.finder details[open] { order: 1; flex: 1 1 100%; }
.finder summary { cursor: pointer; padding: 0.5rem 0.25rem; color: var(--muted); font-size: var(--small); }
.finder details > div { display: flex; flex-wrap: wrap; gap: 0.5rem 0.625rem; padding-top: 0.25rem; }
.videos { list-style: none; display: grid; gap: 1.75rem 1.25rem; grid-template-columns: repeat(auto-fill, minmax(min(17rem, 100%), 1fr)); }
.video { position: relative; min-width: 0; display: grid; gap: 0.625rem; align-content: start; }
.frame { position: relative; display: block; text-decoration: none; border-radius: 12px; overflow: hidden; background: #000; aspect-ratio: 16 / 9; box-shadow: 0 0 0 1px var(--line); }
.frame .thumbnail, .frame video { width: 100%; height: 100%; max-height: none; object-fit: contain; display: block; border-radius: 0; }
.frame [data-picture] img { width: 100%; height: 100%; object-fit: contain; display: block; }
.frame video { position: absolute; inset: 0; }
.thumbnail.none { display: grid; place-items: center; padding: 1rem; background: var(--sunken); color: var(--muted); font: 500 var(--small) var(--mono); overflow-wrap: anywhere; }
.select-video { position: absolute; top: 0.375rem; right: 0.375rem; display: grid; place-items: center; width: 2.25rem; height: 2.25rem; opacity: 0; }
.select-video input { width: 1.25rem; height: 1.25rem; margin: 0; box-shadow: 0 0 0 1px #fff8, 0 1px 6px #0008; border-radius: 4px; }
.video:hover .select-video, .select-video:focus-within, .videos:has(.select-video :checked) .select-video { opacity: 1; }
.video:has(.select-video :checked) .frame { box-shadow: 0 0 0 3px var(--accent); }
.length { position: absolute; bottom: 0.5rem; right: 0.5rem; padding: 0.0625rem 0.375rem; border-radius: 5px; background: #000c; color: #fff; font-size: var(--small); }
.selection { display: none; position: sticky; bottom: 1rem; z-index: 3; grid-template-columns: none; flex-wrap: wrap; gap: 0.5rem 0.75rem; align-items: center; padding: 0.75rem 1rem; box-shadow: 0 8px 30px #0004; }
:has(> .stack > .videos .select-video :checked) > .selection { display: flex; }
.join { display: flex; }
.join input { width: 9rem; border-radius: 8px 0 0 8px; border-right: 0; }
.join button { border-radius: 0 8px 8px 0; }
.tools { display: flex; align-items: center; gap: 0.125rem; }
.menu { position: relative; }
.menu > summary { list-style: none; cursor: pointer; padding: 0.375rem; margin: -0.25rem; border-radius: 7px; min-width: 2rem; text-align: center; font-size: 1.25rem; line-height: 1; color: var(--muted); }
.menu > summary::-webkit-details-marker { display: none; }
.menu > summary:hover { background: var(--sunken); color: var(--text); }
.menu > .card { position: absolute; z-index: 2; right: 0; top: calc(100% + 0.375rem); width: 18rem; max-width: 80vw; box-shadow: 0 8px 30px #0004; }
.video .over { position: absolute; top: 0.625rem; left: 0.625rem; box-shadow: 0 0 0 1px var(--line); }
.about { display: flex; gap: 0.5rem; justify-content: space-between; align-items: start; }
.about > div:first-child { min-width: 0; display: grid; gap: 0.125rem; }
.about p { overflow: hidden; text-overflow: ellipsis; }
.video .name { font-weight: 600; color: var(--text); text-decoration: none; overflow-wrap: anywhere; display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical; overflow: hidden; }
.video .name:hover { color: var(--accent); }
.star button { all: unset; cursor: pointer; padding: 0.375rem; margin: -0.25rem; border-radius: 7px; line-height: 0; color: var(--muted); }
.star button:hover { background: var(--sunken); color: var(--text); }
.star button:focus-visible { outline: 2px solid var(--accent); }
.star svg { width: 1.25rem; height: 1.25rem; fill: none; stroke: currentColor; stroke-width: 1.6; stroke-linejoin: round; }
.star [aria-pressed="true"] { color: light-dark(#a86700, #f5c04f); }
.star [aria-pressed="true"] svg { fill: currentColor; }
.first { display: grid; gap: 0.75rem; justify-items: center; text-align: center; padding: 3rem 0; }
.first h2 { font-size: var(--title); }
.first form { width: 100%; max-width: 64rem; margin-top: 1.25rem; }
.example { display: grid; gap: 0.625rem; width: 100%; padding: 0; border: 0; background: none; text-align: left; white-space: normal; }
.example:hover { background: none; }
.example .thumbnail { width: 100%; height: auto; aspect-ratio: 16 / 9; object-fit: cover; border-radius: 12px; box-shadow: 0 0 0 1px var(--line); }
.example:hover .thumbnail { box-shadow: 0 0 0 2px var(--accent); }
@media (hover: none) { .select-video { opacity: 1; } }
@media (max-width: 40rem) {
  .finder select { flex: 1 1 8rem; max-width: none; }
  .videos { gap: 1.5rem; }
}
`;
