/** Styles of shared videos: their lists, their settings and the card of a job. */
export const SHARE_STYLE: string = `
.file .thumb { width: 5rem; }
.list .file { flex: 1 1 9rem; }
.list > li:has(> .file) { align-items: center; flex-wrap: nowrap; }
.list .actions { flex: none; flex-wrap: nowrap; }
.list .actions button { padding: 0.2rem 0.7rem; font-size: var(--small); }
.clamp { display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical; overflow: hidden; overflow-wrap: anywhere; }
.instructions { white-space: pre-line; overflow-wrap: anywhere; }
#share-card, #videos, #add-videos, .list > li { scroll-margin-top: 7rem; }
#add-videos .finder { padding: 0 1.375rem 0.875rem; }
#add-videos .finder input { flex-basis: 10rem; }
@media (max-width: 40rem) { #add-videos .finder { padding-inline: 1rem; } }
.embed { margin-top: 0.625rem; }
.poster { display: grid; gap: 0.875rem; }
.poster:not(:has(option[value="seconds"]:checked)) .at { display: none; }
`;
