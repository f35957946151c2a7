import { SCRIPT_ASSET, STYLESHEET_ASSET } from './assets/assets.ts';
import { dataBlock, type Html, html, type Value, wholeText } from './html.ts';
import { LANGUAGES, type Language, language, texts } from './language/texts.ts';
import { BASE, type Note, type Told } from './route.ts';
import type { Viewer } from './sign-in/sessions.ts';

/** A page of a signed-in person. */
export interface Page {
  title: string;
  /** The entry of the navigation that the page belongs to, if any. */
  section?: Section | undefined;
  viewer: Viewer;
  csrf: string;
  /** Beside the title. */
  actions?: Value;
  /** Below the title. */
  lead?: Value;
  /** Path of the page's own script. */
  script?: string;
  /** The texts of that script. */
  scriptTexts?: Readonly<Record<string, string>>;
}

/** The entries of the navigation: path, and whether they are for administrators only. */
const SECTIONS = {
  overview: ['', false],
  playground: ['/playground', false],
  scenes: ['/scenes', false],
  assignments: ['/assignments', false],
  jobs: ['/jobs', false],
  shares: ['/shares', false],
  files: ['/files', false],
  keys: ['/keys', false],
  webhooks: ['/webhooks', false],
  credits: ['/credits', false],
  accounts: ['/accounts', true],
  service: ['/service', true],
  acts: ['/acts', true],
} as const;
export type Section = keyof typeof SECTIONS | 'account';

const MARK = html`<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" aria-hidden="true"><rect x="2.5" y="4.5" width="19" height="15" rx="3"/><path d="M6 15.5c2-7 4-7 6 0s4 7 6 0" stroke-linecap="round"/></svg>`;

/** The layout of all pages for signed-in people. */
export function page(
  { title, section, viewer, csrf, actions, lead, script, scriptTexts }: Page,
  ...content: Value[]
): Html {
  const { layout } = texts();
  const isAdmin = viewer.role === 'admin';
  const links = (Object.keys(SECTIONS) as (keyof typeof SECTIONS)[])
    .map((name) => ({ name, path: SECTIONS[name][0], forAdmins: SECTIONS[name][1] }))
    .filter(({ forAdmins }) => isAdmin || !forAdmins)
    .map(({ name, path }) =>
      name === section
        ? html`<li><a href="${BASE}${path}" aria-current="page">${layout.sections[name]}</a></li>`
        : html`<li><a href="${BASE}${path}">${layout.sections[name]}</a></li>`,
    );
  return document(
    title,
    html`<a class="skip" href="#main">${layout.skip}</a>
<div class="shell">
<header class="side">
<a class="brand" href="${BASE}">${MARK}Scenepress</a>
<nav aria-label="${layout.navigation}"><ul class="nav">${links}</ul></nav>
<div class="person">
<span class="email" title="${viewer.email}">${viewer.email}</span>
<span class="email" data-zone="long">${layout.utc}</span>
<a href="${BASE}/account">${layout.account}</a>
${postButton({ to: '/sign-out', csrf, label: layout.signOut, look: 'link' })}
</div>
</header>
<main class="main" id="main" tabindex="-1">
<div class="head"><div><h1>${title}</h1>${lead && html`<p>${lead}</p>`}</div>${actions && html`<div class="actions">${actions}</div>`}</div>
${content}
<footer class="small"><a href="/manual/README.md">${layout.manual}</a><a href="/openapi.json">${layout.openapi}</a><a href="/llms.txt">${layout.agents}</a>${languageChoice(csrf)}</footer>
</main>
</div>`,
    script,
    scriptTexts,
  );
}

/** The entry of the navigation that a path below {@link BASE} belongs to. */
export function sectionOf(path: string): Section | undefined {
  const first = `/${path.split('/')[1] ?? ''}`;
  return (Object.keys(SECTIONS) as (keyof typeof SECTIONS)[]).find((name) => SECTIONS[name][0] === first);
}

/** The layout of pages for people who are not signed in: signing in, errors. Those with forms have a `csrf`. */
export function plainPage({ title, csrf }: { title: string; csrf?: string }, ...content: Value[]): Html {
  return document(
    title,
    html`<main class="plain"><a class="brand" href="${BASE}">${MARK}Scenepress</a><div class="card">${content}</div>${csrf !== undefined && html`<footer class="small">${languageChoice(csrf)}</footer>`}</main>`,
  );
}

/** A form with a button for each other language. */
export function languageChoice(csrf: string): Html {
  const { layout } = texts();
  const others = (Object.keys(LANGUAGES) as Language[]).filter((code) => code !== language());
  return html`<form method="post" action="${BASE}/language" class="languages">${csrfField(csrf)}${others.map(
    (code) =>
      html`<button class="link" name="language" value="${code}" lang="${code}">${layout.languages[code]}</button>`,
  )}</form>`;
}

function document(
  title: string,
  body: Html,
  script?: string,
  scriptTexts?: Readonly<Record<string, string>>,
): Html {
  return html`<!doctype html>
<html lang="${language()}" data-now="${new Date().toISOString()}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Scenepress</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${STYLESHEET_ASSET.path}">
${dataBlock('texts', { ...texts().layout.script, ...scriptTexts })}
<script type="module" src="${SCRIPT_ASSET.path}"></script>${
    script !== undefined &&
    html`
<script type="module" src="${script}"></script>`
  }
</head>
<body>
${body}
</body>
</html>
`;
}

/** A form that consists of one button. */
export function postButton(button: {
  to: string;
  csrf: string;
  label: Value;
  look?: 'link' | 'danger' | 'primary' | '';
  fields?: Record<string, string>;
}): Html {
  const { to, csrf, label, look = '', fields = {} } = button;
  return html`<form method="post" action="${BASE}${to}">${csrfField(csrf)}${Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )}<button class="${look}">${label}</button></form>`;
}

/** The field against cross-site requests, which every form with `method="post"` needs. */
export function csrfField(csrf: string): Html {
  return html`<input type="hidden" name="csrf" value="${csrf}">`;
}

/** The text of an empty list, and the next step. */
export function emptyState(title: string, text: Value, action?: Value): Html {
  return html`<div class="empty"><h2>${title}</h2><p>${text}</p>${action}</div>`;
}

/** What a form has told its page. */
export function toldNote({ note: told }: Told): Html | undefined {
  return told && note(told.kind, told.text);
}

/** In a region whose changes no event announces: it is loaded again every few seconds. */
export const POLLED: Html = html`<span data-polled hidden></span>`;

/** A message above a page's content. */
export function note(kind: Note['kind'], text: Value): Html {
  return html`<p class="note ${kind}" role="${kind === 'bad' ? 'alert' : 'status'}">${text}</p>`;
}

/** A text with a button that copies it; without scripts it can be selected. */
export function copyable(label: string, id: string, text: string): Html {
  return html`<div class="secret"><span class="small muted" id="${id}-label">${label}</span><div><code id="${id}">${wholeText(text)}</code><button type="button" data-copy="${id}" aria-describedby="${id}-label" hidden>${texts().common.copy}</button></div></div>`;
}
