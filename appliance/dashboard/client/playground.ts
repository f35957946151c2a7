// The script of the playground: replaces the text field of its form by an editor, renders without leaving the page,
// and keeps drafts. The result is rendered by the server, and replaced as it changes by the script of all pages.
import { SNIPPETS, type SnippetName } from '../snippets.ts';
import { type Draft, Drafts } from './drafts.ts';
import { Editor } from './editor.ts';
import { Playback } from './playback.ts';

const SCENES_AFTER_MS = 600;
const SAVED_AFTER_MS = 300;
const CLASSES = /^class\s+\w+.*$/gm;

const find = <T extends Element>(selector: string, from: ParentNode = document): T =>
  from.querySelector(selector) as T;

const place = find<HTMLElement>('#playground');
const form = find<HTMLFormElement>('form', place);
const result = find<HTMLElement>('#result');
const problem = find<HTMLElement>('#problem');
const kept = find<HTMLElement>('#kept');
const field = find<HTMLTextAreaElement>('textarea', form);
const button = find<HTMLButtonElement>('.toolbar button', form);
const scene = find<HTMLSelectElement>('select[name=className]', form);
const quality = find<HTMLSelectElement>('select[name=quality]', form);
const aspectRatio = find<HTMLSelectElement>('select[name=aspectRatio]', form);
const fps = find<HTMLInputElement>('input[name=fps]', form);
const drafts = new Drafts(place.dataset['account'] ?? '');

/** The code that the server has given, or that was rendered last. */
let base = field.value;
const draft = drafts.get();
const isDrafted = draft !== undefined && draft.base === base;

const host = find<HTMLElement>('#editor');
host.hidden = false;
field.hidden = true;
// The editor has the code; a hidden required field would stop the form.
field.required = false;
const editor = new Editor(host, {
  text: isDrafted ? draft.code : base,
  onChange: () => {
    kept.hidden = true;
    changed();
  },
  onRender: () => form.requestSubmit(),
});
const playback = new Playback(result, editor);

if (isDrafted) fill(draft);
else if (draft && draft.code !== draft.base && draft.code !== base) {
  kept.hidden = false;
  find<HTMLButtonElement>('button', kept).addEventListener('click', () => {
    editor.text = draft.code;
    fill(draft);
    editor.view.focus();
  });
}
showFault();
void listScenes();
changed({ save: false });

for (const control of [scene, quality, aspectRatio, fps]) control.addEventListener('input', () => changed());
addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return;
  event.preventDefault();
  form.requestSubmit();
});
form.addEventListener('submit', (event) => {
  event.preventDefault();
  void render();
});
result.addEventListener('submit', (event) => {
  event.preventDefault();
  void cancel(event.target as HTMLFormElement);
});
result.addEventListener('replaced', showFault);
result.addEventListener('click', (event) => {
  const link = (event.target as Element).closest<HTMLElement>('[data-go]');
  if (!link) return;
  event.preventDefault();
  editor.goTo(Number(link.dataset['go']));
});
for (const link of document.querySelectorAll<HTMLAnchorElement>('#examples a')) {
  link.addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    void open(link.href);
  });
}
addEventListener('popstate', () => location.reload());
addEventListener('pagehide', save);

let savedLater: ReturnType<typeof setTimeout> | undefined;
let listedLater: ReturnType<typeof setTimeout> | undefined;
let listedClasses: string | undefined;

/** After each change of the form. */
function changed({ save: isSaved = true } = {}): void {
  field.value = editor.text;
  if (isSaved) {
    clearTimeout(savedLater);
    savedLater = setTimeout(save, SAVED_AFTER_MS);
  }
  const { base: _, fps: rate, ...request } = current();
  for (const [name, write] of Object.entries(SNIPPETS)) {
    const fpsOf = /^\d+$/.test(rate) ? { fps: Number(rate) } : {};
    const text = write({ ...request, ...fpsOf }, place.dataset['publicUrl'] ?? '');
    find(`#snippet-${name as SnippetName}`).textContent = text;
  }
  if (classesOf(request.code) === listedClasses) return;
  clearTimeout(listedLater);
  listedLater = setTimeout(() => void listScenes(), SCENES_AFTER_MS);
}

function current(): Draft {
  return {
    base,
    code: editor.text,
    className: scene.value,
    quality: quality.value,
    aspectRatio: aspectRatio.value,
    fps: fps.value,
  };
}

function fill(from: Omit<Draft, 'base' | 'code'>): void {
  offer([from.className], from.className);
  quality.value = from.quality;
  aspectRatio.value = from.aspectRatio;
  fps.value = from.fps;
}

function save(): void {
  clearTimeout(savedLater);
  if (kept.hidden) drafts.set(current());
}

function classesOf(code: string): string {
  return (code.match(CLASSES) ?? []).join('\n');
}

/** Asks the server, which runs the code, once its classes have changed. */
async function listScenes(): Promise<void> {
  const { code } = current();
  const classes = classesOf(code);
  if (code.trim() === '') return;
  listedClasses = classes;
  const answer = await post(form, `${form.action}/scenes`);
  if (!answer?.ok || answer.redirected) return;
  const { scenes } = (await answer.json()) as { scenes?: string[] };
  if (scenes && classesOf(editor.text) === classes) offer(scenes, scene.value);
}

/** Offers scenes; keeps the choice, or chooses the first. */
function offer(scenes: string[], chosen: string): void {
  const names = scenes.filter((name) => name !== '');
  const options = names.length > 0 ? names : [''];
  scene.replaceChildren(...options.map((name) => new Option(name || 'The only scene', name)));
  scene.value = options.includes(chosen) ? chosen : (options[0] ?? '');
}

async function render(): Promise<void> {
  if (button.disabled) return;
  button.disabled = true;
  playback.keepPlace();
  editor.showFault(undefined);
  // There the result is below the editor.
  if (matchMedia('(max-width: 56rem)').matches) result.scrollIntoView({ behavior: 'smooth' });
  try {
    field.value = editor.text;
    const answer = await post(form);
    if (answer) await showAnswer(answer);
  } finally {
    button.disabled = false;
  }
}

/** Sends the form of the result. */
async function cancel(form: HTMLFormElement): Promise<void> {
  const answer = await post(form);
  if (!answer) return;
  if (answer.ok) problem.replaceChildren();
  else {
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const text = page.querySelector('main p')?.textContent;
    showProblem(text || `The server answered with status ${answer.status}. Try again.`);
  }
  dispatchEvent(new Event('refresh'));
}

async function open(url: string): Promise<void> {
  const page = await pageOf(await fetch(url));
  if (!page) return location.assign(url);
  save();
  base = find<HTMLTextAreaElement>('textarea', page).value;
  const [from, to] = [find<HTMLSelectElement>('select[name=className]', page), aspectRatio];
  to.value = find<HTMLSelectElement>('select[name=aspectRatio]', page).value;
  offer([from.value], from.value);
  listedClasses = classesOf(base);
  editor.showFault(undefined);
  editor.text = base;
  playback.forgetPlace();
  history.pushState(null, '', url);
  dispatchEvent(new CustomEvent('show', { detail: page }));
  scrollTo({ top: 0, behavior: 'smooth' });
  editor.view.focus();
}

/** Shows the page that the server has answered with: the new job, or why there is none. */
async function showAnswer(answer: Response): Promise<void> {
  const page = await pageOf(answer);
  if (!page) return location.reload();
  problem.replaceChildren(...find<HTMLElement>('#problem', page).childNodes);
  const names = [...find<HTMLSelectElement>('select[name=className]', page).options].map(
    ({ value }) => value,
  );
  if (!answer.ok) {
    if (names.length > 1) offer(names, scene.value);
    return;
  }
  base = find<HTMLTextAreaElement>('textarea', page).value;
  save();
  history.replaceState(null, '', answer.url);
  dispatchEvent(new CustomEvent('show', { detail: page }));
  // The job may have progressed while the page loaded.
  dispatchEvent(new Event('refresh'));
}

/** Undefined if it is another page: that of signing in, or an error. */
async function pageOf(answer: Response): Promise<Document | undefined> {
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  return page.getElementById('playground') ? page : undefined;
}

async function post(form: HTMLFormElement, url = form.action): Promise<Response | undefined> {
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(form)) fields.append(name, String(value));
  try {
    return await fetch(url, { method: 'POST', body: fields });
  } catch {
    showProblem("The server can't be reached. Your draft is kept in this browser.");
    return undefined;
  }
}

function showProblem(text: string): void {
  const note = document.createElement('p');
  note.className = 'note bad';
  note.setAttribute('role', 'alert');
  note.textContent = text;
  problem.replaceChildren(note);
}

function showFault(): void {
  const { line, error } = find<HTMLElement>('[data-job]', result)?.dataset ?? {};
  const message = (error ?? '').replace(/\n?line \d+:.*$/s, '').trim();
  // Only while the code equals that of the render.
  editor.showFault(line && editor.text === base ? { line: Number(line), message } : undefined);
}
