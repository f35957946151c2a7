// The script of the playground: replaces the text field of its form by an editor, renders without leaving the page,
// and keeps drafts. The result is rendered by the server, and replaced as it changes by the script of all pages.
import { SNIPPETS, type SnippetName } from '../snippets.ts';
import { Checks } from './checks.ts';
import { type Draft, Drafts, timeOf } from './drafts.ts';
import { DroppedIntoCode } from './dropped-into-code.ts';
import { Editor } from './editor.ts';
import { follow, post, showProblem, showTold } from './exchange.ts';
import { FilePicker } from './file-picker.ts';
import { filled } from './filled.ts';
import { Inspection, pageOf } from './inspection.ts';
import { ParamsForm } from './params.ts';
import { Playback } from './playback.ts';
import { requestIn } from './request.ts';
import { SceneChoice } from './scene-choice.ts';
import { SceneSaves } from './scene-saves.ts';
import { texts } from './texts.ts';

const SAVED_AFTER_MS = 300;
/** Drafts to continue. */
const MOST_OFFERED = 3;

const find = <T extends Element>(selector: string, from: ParentNode = document): T =>
  from.querySelector(selector) as T;

const place = find<HTMLElement>('#playground');
const form = find<HTMLFormElement>('form', place);
const result = find<HTMLElement>('#result');
const problem = find<HTMLElement>('#problem');
const kept = find<HTMLElement>('#kept');
const field = find<HTMLTextAreaElement>('textarea', form);
const button = find<HTMLButtonElement>('.toolbar .primary', form);
const scene = find<HTMLSelectElement>('select[name=className]', form);
const quality = find<HTMLSelectElement>('select[name=quality]', form);
const aspectRatio = find<HTMLSelectElement>('select[name=aspectRatio]', form);
const fps = find<HTMLInputElement>('input[name=fps]', form);
const edited = form.querySelector<HTMLInputElement>('input[name=scene]')?.value;
const drafts = new Drafts(place.dataset['account'] ?? '', edited);

const saves =
  edited === undefined ? undefined : new SceneSaves(form, { onSaved: savedDraft, onConflict: showConflict });

/** The code that the server gave, or that was rendered last: what differs from it exists here only. */
let base = field.value;
/** The code whose result is shown; undefined if that of the job is another one. */
let shown = place.dataset['changed'] ? undefined : field.value;
/** The request of the job that is shown. */
let rendered = place.dataset['changed'] ? '' : requestIn(form);
/** The query of the page that shows the result. */
let { search: query } = location;
let savedLater: ReturnType<typeof setTimeout> | undefined;
/** The request that is being sent. */
let sending: string | undefined;
/** Whether another is to be sent after it. */
let isWanted = false;
/** The example that was clicked last, while it loads. */
let opening: string | undefined;

const isBare = query === '' && edited === undefined;
const draft = drafts.own() ?? (isBare ? drafts.last() : undefined);

const host = find<HTMLElement>('#editor');
host.hidden = false;
field.hidden = true;
// The editor has the code; a hidden required field would stop the form.
field.required = false;
const editor = new Editor(host, {
  text: draft?.code ?? base,
  onChange: () => {
    kept.hidden = true;
    changed();
  },
  onRender: () => form.requestSubmit(),
  onDrop: (transfer) => void dropped.take(transfer),
});
const scenes = new SceneChoice(scene, {
  code: () => editor.text,
  ask: () => post(form, `${form.action}/scenes`),
});
const params = new ParamsForm(form, () => changed());
new FilePicker(place, editor, form.action);
const csrf = find<HTMLInputElement>('input[name=csrf]', form).value;
const dropped = new DroppedIntoCode(editor, { base: form.action, csrf, tell: showProblem });
const inspection = new Inspection(place, { ask: (url) => post(form, url), problem });
const playback = new Playback(result, editor);
const checks = new Checks(editor, {
  read: () => post(form, `${form.action}/read`),
  run: () => post(form, `${form.action}/check`),
  isShown: (code) => code === shown,
  onParams: (declared) => params.show(declared),
});

if (draft) {
  ({ base } = draft);
  fill(draft);
  if (isBare && /\bjob=/.test(draft.query)) void showResult(draft.query);
}
if (saves) drafts.forgetEqual(field.value);
offerDrafts();
showFault();
void scenes.list();
changed({ save: false });
if (draft?.revision !== undefined) saves?.continue(draft.revision);
if (find('#conflict').hasChildNodes()) saves?.pause();
void params.read(post(form, `${form.action}/read`));

for (const control of [scene, quality, aspectRatio, fps]) control.addEventListener('input', () => changed());
addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return;
  event.preventDefault();
  form.requestSubmit();
});
addEventListener('keydown', (event) => {
  if (event.key !== 's' || !(event.ctrlKey || event.metaKey) || !saves) return;
  event.preventDefault();
  void saves.save();
});
form.addEventListener('submit', (event) => {
  event.preventDefault();
  const { submitter } = event;
  if (
    submitter?.matches(
      '[formaction$="/save"], [formaction$="/take"], [formaction$="/keep"], [formaction$="/assign"]',
    )
  )
    return void change(submitter as HTMLButtonElement);
  if (submitter !== inspection.button) return void render();
  scenes.update();
  field.value = editor.text;
  void inspection.ask();
});
result.addEventListener('submit', (event) => {
  event.preventDefault();
  void cancel(event.target as HTMLFormElement);
});
result.addEventListener('replaced', showFault);
place.addEventListener('click', (event) => {
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
addEventListener('pagehide', () => {
  saveNow();
  saves?.leave();
});

/** After each change of the form. */
function changed({ save: isSaved = true } = {}): void {
  field.value = editor.text;
  if (isSaved) {
    clearTimeout(savedLater);
    savedLater = setTimeout(save, SAVED_AFTER_MS);
    checks.schedule();
    saves?.changed();
  }
  const { fps: rate, params: given, ...request } = current();
  for (const [name, write] of Object.entries(SNIPPETS)) {
    const more = {
      ...(/^\d+$/.test(rate) && { fps: Number(rate) }),
      ...(given && { params: JSON.parse(given) }),
    };
    const text = write({ ...request, ...more }, place.dataset['publicUrl'] ?? '');
    find(`#snippet-${name as SnippetName}`).textContent = text;
  }
  scenes.changed();
}

function current(): Omit<Draft, 'base' | 'query' | 'savedAtMs'> {
  return {
    code: editor.text,
    className: scene.value,
    quality: quality.value,
    aspectRatio: aspectRatio.value,
    fps: fps.value,
    params: params.text,
  };
}

function fill(from: Draft): void {
  scenes.offer([from.className]);
  quality.value = from.quality;
  aspectRatio.value = from.aspectRatio;
  fps.value = from.fps;
  params.text = from.params ?? '';
}

function save(): void {
  clearTimeout(savedLater);
  savedLater = undefined;
  drafts.save({ base, query, ...(saves && { revision: saves.revision }), ...current() });
}

/** The server has the draft of the scene. */
function savedDraft(): void {
  clearTimeout(savedLater);
  savedLater = undefined;
  base = editor.text;
  drafts.forget();
}

/** Shows what was saved elsewhere, as the server tells it. */
async function showConflict(): Promise<void> {
  save();
  const answer = await post(form, `${form.action}/save`);
  const page = answer && (await pageOf(answer));
  if (!answer) return;
  // Both are equal again.
  if (!page || answer.ok) return location.reload();
  showTold(page);
}

/** Saves the draft, or keeps it as another scene, and shows the page that the server leads to. */
async function change(button: HTMLButtonElement): Promise<void> {
  scenes.update();
  field.value = editor.text;
  if (saves && button.value === '' && button.formAction.endsWith('/save')) return saves.save();
  save();
  const send = () => post(form, button.formAction, button);
  const answer = await (saves ? saves.alone(send) : send());
  // Both texts are on the server then.
  if (answer) await follow(answer, { onLeave: () => drafts.forget(), onConflict: () => saves?.pause() });
}

/** Before another takes the place of what is edited. */
function saveNow(): void {
  if (savedLater !== undefined) save();
}

/** Drafts of other tabs and pages, which would be forgotten otherwise. */
function offerDrafts(): void {
  const buttons = drafts
    .unrendered()
    .filter(({ code }) => code !== editor.text)
    .slice(0, MOST_OFFERED)
    .map((draft) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.className = 'link';
      button.textContent = `${draft.className || texts().scene}, ${timeOf(draft)}`;
      button.addEventListener('click', () => restore(draft));
      return button;
    });
  kept.hidden = buttons.length === 0;
  find('span', kept).replaceChildren(...buttons);
}

/** Continues with a copy of a draft. */
function restore(draft: Draft): void {
  saveNow();
  drafts.begin(location.href);
  ({ base } = draft);
  editor.text = draft.code;
  fill(draft);
  saves?.changed({ keeps: true });
  editor.view.focus();
}

/** Renders the code as it is now: after the request that is being sent, and instead of the job that is shown. */
async function render(): Promise<void> {
  scenes.update();
  field.value = editor.text;
  const request = requestIn(form);
  const isActive = /queued|running/.test(find<HTMLElement>('[data-job]', result)?.dataset['status'] ?? '');
  if (request === sending || (sending === undefined && isActive && request === rendered)) {
    return showProblem(texts().renderedAlready, '');
  }
  if (sending !== undefined) {
    isWanted = true;
    return;
  }
  sending = request;
  inspection.hide();
  checks.cancel();
  button.ariaBusy = 'true';
  const { text } = editor;
  playback.keepPlace();
  editor.showFault(undefined);
  // There the result is below the editor.
  if (matchMedia('(max-width: 56rem)').matches) result.scrollIntoView({ behavior: 'smooth' });
  try {
    const send = () => post(form);
    const answer = await (saves ? saves.alone(send) : send());
    if (answer) await showAnswer(answer, text);
  } finally {
    sending = undefined;
    button.ariaBusy = null;
  }
  if (!isWanted) return;
  isWanted = false;
  await render();
}

/** Sends the form of the result. */
async function cancel(form: HTMLFormElement): Promise<void> {
  const answer = await post(form);
  if (!answer) return;
  if (answer.ok) problem.replaceChildren();
  else {
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const text = page.querySelector('main p')?.textContent;
    showProblem(text || filled(texts().status, { status: answer.status }));
  }
  dispatchEvent(new Event('refresh'));
}

async function open(url: string): Promise<void> {
  opening = url;
  const answer = await fetch(url).catch(() => undefined);
  if (opening !== url) return;
  if (!answer) return showProblem(texts().away);
  const page = await pageOf(answer);
  if (!page) return location.assign(url);
  // What is edited stays the draft of the entry before.
  saveNow();
  drafts.begin(url);
  query = location.search;
  base = find<HTMLTextAreaElement>('textarea', page).value;
  aspectRatio.value = find<HTMLSelectElement>('select[name=aspectRatio]', page).value;
  editor.showFault(undefined);
  editor.text = base;
  params.text = '';
  scenes.update();
  void params.read(post(form, `${form.action}/read`));
  playback.forgetPlace();
  show(page);
  scrollTo({ top: 0, behavior: 'smooth' });
  editor.view.focus();
}

/** Shows the result of a draft that is continued in a new entry of the history. */
async function showResult(found: string): Promise<void> {
  const answer = await fetch(form.action + found).catch(() => undefined);
  const page = answer?.ok && (await pageOf(answer));
  // The job may be forgotten, and another render may have begun.
  if (!page || location.search !== '' || sending !== undefined) return;
  history.replaceState(history.state, '', found);
  query = found;
  show(page);
}

/** Shows the page that the server has answered with: the new job, or why there is none. */
async function showAnswer(answer: Response, code: string): Promise<void> {
  const page = await pageOf(answer);
  if (!page) return location.reload();
  if (showTold(page)) saves?.pause();
  if (!answer.ok) {
    const names = [...find<HTMLSelectElement>('select[name=className]', page).options].slice(1);
    if (names.length > 1)
      scenes.found(
        code,
        names.map(({ value }) => value),
      );
    return;
  }
  base = code;
  history.replaceState(history.state, '', answer.url);
  query = location.search;
  show(page);
  if (saves) saves.rendered(page, code);
  else save();
  // The job may have progressed while the page loaded.
  dispatchEvent(new Event('refresh'));
}

/** Shows the result of a page, and takes over its form except for what is edited. */
function show(page: Document): void {
  const from = find<HTMLFormElement>('#playground form', page);
  for (const name of ['job', 'last', 'once']) {
    const selector = `input[name=${name}]`;
    find<HTMLInputElement>(selector, form).value = find<HTMLInputElement>(selector, from).value;
  }
  const isOther = find<HTMLElement>('#playground', page).dataset['changed'];
  shown = isOther ? undefined : find<HTMLTextAreaElement>('textarea', from).value;
  rendered = isOther ? '' : requestIn(from);
  dispatchEvent(new CustomEvent('show', { detail: page }));
}

function showFault(): void {
  const { line, error, hint } = find<HTMLElement>('[data-job]', result)?.dataset ?? {};
  const message = (error ?? '').replace(/\n?line \d+:.*$/s, '').trim();
  // Only while the code equals that of the render.
  editor.showFault(line && editor.text === shown ? { line: Number(line), message, hint } : undefined);
}
