/** Styles of the library: a grid of videos, its search and its star. */
export const LIBRARY_STYLE: string = `
.finder { display: flex; flex-wrap: wrap; gap: 0.5rem 0.625rem; align-items: center; }
.finder input[type="search"] { flex: 1 1 18rem; max-width: 34rem; height: 2.5rem; border-color: var(--line); }
.finder select { width: auto; max-width: 12rem; height: 2.5rem; border-color: var(--line); }
.finder button { height: 2.5rem; }
.videos { list-style: none; display: grid; gap: 1.75rem 1.25rem; grid-template-columns: repeat(auto-fill, minmax(min(17rem, 100%), 1fr)); }
.video { position: relative; min-width: 0; display: grid; gap: 0.625rem; align-content: start; }
.frame { position: relative; display: block; border-radius: 12px; overflow: hidden; background: #000; aspect-ratio: 16 / 9; box-shadow: 0 0 0 1px var(--line); }
.frame .thumbnail, .frame video { width: 100%; height: 100%; max-height: none; object-fit: contain; display: block; border-radius: 0; }
.frame [data-picture] img { width: 100%; height: 100%; object-fit: contain; display: block; }
.frame video { position: absolute; inset: 0; }
.thumbnail.none { display: grid; place-items: center; padding: 1rem; background: var(--sunken); color: var(--muted); font: 500 var(--small) var(--mono); overflow-wrap: anywhere; }
.video .over { position: absolute; top: 0.625rem; left: 0.625rem; box-shadow: 0 0 0 1px var(--line); }
.about { display: flex; gap: 0.5rem; justify-content: space-between; align-items: start; }
.about > div { min-width: 0; display: grid; gap: 0.125rem; }
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
@media (max-width: 40rem) {
  .finder select { flex: 1 1 8rem; max-width: none; }
  .videos { gap: 1.5rem; }
}
`;
