/**
 * The script of all pages; they work without it. Copies texts, and replaces the regions marked `data-live` when the
 * server reports a change.
 */
export const SCRIPT: string = `
const copy = async (text) => {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Browsers offer the clipboard on HTTPS and on this machine only.
  const field = document.createElement('textarea');
  field.value = text;
  field.setAttribute('readonly', '');
  field.className = 'visually-hidden';
  document.body.append(field);
  field.select();
  document.execCommand('copy');
  field.remove();
};

for (const button of document.querySelectorAll('button[data-copy]')) button.hidden = false;

// A checkbox that selects all of a form's checkboxes with a name.
const boxesOf = (all) => [...all.form.querySelectorAll('input[type=checkbox][name="' + all.dataset.all + '"]')];
const showAll = (all) => {
  const boxes = boxesOf(all);
  const count = boxes.filter((box) => box.checked).length;
  all.checked = count > 0 && count === boxes.length;
  all.indeterminate = count > 0 && count < boxes.length;
};
const alls = document.querySelectorAll('input[data-all]');
for (const all of alls) {
  all.closest('label').hidden = false;
  showAll(all);
}
document.addEventListener('change', ({ target }) => {
  if (target.dataset.all) for (const box of boxesOf(target)) box.checked = target.checked;
  for (const all of alls) showAll(all);
});

document.addEventListener('click', async (event) => {
  const button = event.target.closest('button[data-copy]');
  if (!button) return;
  await copy(document.getElementById(button.dataset.copy).textContent);
  const said = button.textContent;
  if (said === 'Copied') return;
  button.textContent = 'Copied';
  setTimeout(() => { button.textContent = said; }, 1500);
});

// A double click sends a form once.
document.addEventListener('submit', (event) => {
  if (event.defaultPrevented) return;
  const { dataset } = event.target;
  if (dataset.sent) return event.preventDefault();
  dataset.sent = 'true';
  setTimeout(() => { delete dataset.sent; }, 2000);
});

const regions = () => document.querySelectorAll('[data-live]');

let isLoading = false;
let isStale = false;
const refresh = async () => {
  if (isLoading) { isStale = true; return; }
  isLoading = true;
  try {
    const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
    if (answer.redirected) return location.reload();
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    for (const region of regions()) {
      const next = page.getElementById(region.id);
      // What is the same stays: a video that plays isn't interrupted.
      if (next && next.innerHTML !== region.dataset.last) {
        region.dataset.last = next.innerHTML;
        const checked = new Set([...region.querySelectorAll('input:checked')].map((box) => box.value));
        const focused = region.contains(document.activeElement) && document.activeElement.value;
        region.replaceChildren(...next.childNodes);
        for (const box of region.querySelectorAll('input[type=checkbox]')) {
          box.checked = checked.has(box.value);
          if (box.value === focused) box.focus();
        }
        for (const all of alls) showAll(all);
      }
    }
  } finally {
    isLoading = false;
    if (isStale) { isStale = false; refresh(); }
  }
};

if (regions().length > 0) {
  for (const region of regions()) region.dataset.last = region.innerHTML;
  let events;
  let wasOpen = false;
  const connect = () => {
    events = new EventSource('/dashboard/live');
    events.addEventListener('open', () => {
      // What happened while it was disconnected.
      if (wasOpen) refresh();
      wasOpen = true;
      document.documentElement.dataset.connected = 'true';
    });
    for (const [name, listener] of Object.entries(listeners)) events.addEventListener(name, listener);
  };
  const disconnect = () => {
    events?.close();
    events = undefined;
    delete document.documentElement.dataset.connected;
  };
  let timer;
  const listeners = {
    job() {
      // Soon, but not for each of many.
      timer ??= setTimeout(() => {
        timer = undefined;
        refresh();
      }, 300);
    },
    progress({ data }) {
      const { jobId, text } = JSON.parse(data);
      for (const place of document.querySelectorAll('[data-progress="' + CSS.escape(jobId) + '"]')) {
        place.textContent = text;
      }
    },
  };
  // Browsers open six connections to a server at most: tabs in the background need none.
  const connectIfVisible = () => {
    if (document.hidden) disconnect();
    else if (!events) connect();
  };
  document.addEventListener('visibilitychange', connectIfVisible);
  addEventListener('pageshow', connectIfVisible);
  addEventListener('pagehide', disconnect);
  connectIfVisible();
}
`;
