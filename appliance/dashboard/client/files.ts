// The script of the page of files: uploads files one after the other, those that are dropped on the page, too, and shows
// how far each has come. The list is rendered by the server, and replaced by the script of all pages.
import type { files } from '../language/en/files.ts';
import { type Dropped, droppedFiles } from './dropped-files.ts';
import { filled } from './filled.ts';
import { textsOfPage } from './texts.ts';

const AT_ONCE = 2;
/** An account may only add so many files a minute. */
const MOST_TRIES = 20;
/** What asks for more patience is told instead. */
const LONGEST_WAIT_S = 60;

const texts = textsOfPage<(typeof files)['script']>();
const find = <T extends Element>(selector: string): T => document.querySelector(selector) as T;

const form = find<HTMLFormElement>('#upload form');
const folder = find<HTMLInputElement>('#upload input[name=folder]');
const field = find<HTMLInputElement>('#upload input[type=file]');
const csrf = find<HTMLInputElement>('#upload input[name=csrf]').value;
const list = find<HTMLElement>('#uploads');
const state = find<HTMLElement>('#upload-state');
const account = new URL(form.action).searchParams.get('account');

/** A file with its line in the list. */
interface Upload extends Dropped {
  folder: string;
  line: HTMLLIElement;
  text: HTMLSpanElement;
  bar: HTMLProgressElement;
}

let waiting: Upload[] = [];
let sending = 0;
let done = 0;
let failed = 0;
let total = 0;

find<HTMLElement>('#drop-hint').hidden = false;
form.addEventListener('submit', (event) => {
  event.preventDefault();
  add(Array.from(field.files ?? [], (file) => ({ path: file.name, file })));
  field.value = '';
});
addEventListener('beforeunload', (event) => {
  if (sending > 0) event.preventDefault();
});

/** How many elements that files are dragged over have been entered and not left. */
let depth = 0;
const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes('Files') ?? false;
const showTarget = (isTarget: boolean) => document.body.classList.toggle('dropping', isTarget);
addEventListener('dragenter', (event) => {
  if (!hasFiles(event)) return;
  depth += 1;
  showTarget(true);
});
addEventListener('dragleave', (event) => {
  if (!hasFiles(event)) return;
  depth -= 1;
  if (depth <= 0) showTarget(false);
});
addEventListener('dragover', (event) => {
  if (hasFiles(event)) event.preventDefault();
});
addEventListener('drop', (event) => {
  if (!hasFiles(event) || !event.dataTransfer) return;
  event.preventDefault();
  depth = 0;
  showTarget(false);
  void droppedFiles(event.dataTransfer).then(add);
});

function add(files: Dropped[]): void {
  if (files.length === 0) return;
  if (sending === 0) {
    list.replaceChildren();
    done = 0;
    failed = 0;
    total = 0;
  }
  total += files.length;
  waiting = [...waiting, ...files.map((file) => lineOf(file))];
  list.hidden = false;
  state.hidden = false;
  next();
}

function lineOf({ path, file }: Dropped): Upload {
  const line = document.createElement('li');
  const name = document.createElement('span');
  name.textContent = path;
  const text = document.createElement('span');
  text.textContent = texts.waiting;
  const bar = document.createElement('progress');
  bar.value = 0;
  bar.setAttribute('aria-label', path);
  line.append(name, text, bar);
  list.append(line);
  return { path, file, folder: folder.value, line, text, bar };
}

function next(): void {
  while (sending < AT_ONCE && waiting.length > 0) {
    const [upload] = waiting.splice(0, 1);
    if (!upload) return;
    sending += 1;
    void send(upload).then((problem) => {
      sending -= 1;
      end(upload, problem);
      next();
    });
  }
  const left = total - done - failed;
  const counts = filled(failed > 0 ? texts.countsFailed : texts.counts, { done, total, failed });
  state.textContent = left > 0 ? `${counts} …` : `${counts}.`;
  if (left === 0 && done > 0) dispatchEvent(new Event('refresh'));
}

function end({ line, text, bar }: Upload, problem: string | undefined): void {
  bar.remove();
  line.dataset['state'] = problem === undefined ? 'done' : 'failed';
  text.textContent = problem ?? texts.uploaded;
  if (problem === undefined) done += 1;
  else failed += 1;
}

/** Resolves with why it was refused. */
async function send(upload: Upload): Promise<string | undefined> {
  for (let tries = 1; ; tries += 1) {
    const answer = await post(upload);
    const retryAfterS = Number(answer.getResponseHeader('retry-after'));
    const isBrief = retryAfterS > 0 && retryAfterS <= LONGEST_WAIT_S;
    if (answer.status !== 429 || !isBrief || tries === MOST_TRIES) return problemIn(answer);
    upload.text.textContent = texts.waitingTooMany;
    await new Promise((resolve) => setTimeout(resolve, retryAfterS * 1000));
  }
}

/** As fetch, which does not tell how much it has sent. */
function post({ path, file, folder, text, bar }: Upload): Promise<XMLHttpRequest> {
  const query = new URLSearchParams({ name: path, folder, ...(account !== null && { account }) });
  const request = new XMLHttpRequest();
  request.open('POST', `${location.pathname}/upload?${query.toString()}`);
  request.setRequestHeader('x-csrf-token', csrf);
  request.setRequestHeader('content-type', 'application/octet-stream');
  request.upload.addEventListener('progress', ({ loaded, total }) => {
    bar.max = total;
    bar.value = loaded;
    text.textContent = loaded < total ? `${Math.floor((100 * loaded) / total)} %` : texts.checking;
  });
  return new Promise((resolve) => {
    request.addEventListener('loadend', () => resolve(request));
    request.send(file);
  });
}

function problemIn(answer: XMLHttpRequest): string | undefined {
  const { status, responseURL, responseText } = answer;
  if (status === 201) return undefined;
  if (status === 0) return texts.unreachable;
  // A redirection was followed.
  if (!responseURL.includes('/upload')) return texts.sessionEnded;
  if (!answer.getResponseHeader('content-type')?.startsWith('application/json')) {
    return filled(texts.refused, { status });
  }
  return String((JSON.parse(responseText) as { message: unknown }).message);
}
