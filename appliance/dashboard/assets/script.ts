/**
 * The script of all pages; they work without it. Copies texts, and replaces the regions marked `data-live` when the
 * server reports a change.
 */
export const SCRIPT: string = `
// In the language of the page.
const texts = JSON.parse(document.getElementById('texts').textContent);

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

// On a phone the navigation is one row, which scrolls.
document.querySelector('.nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });

const regions = () => document.querySelectorAll('[data-live]');
// As the server wrote them, before the lines below change them.
for (const region of regions()) region.dataset.last = region.innerHTML;

// Times in the reader's zone.
const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
const two = (number) => String(number).padStart(2, '0');
const isoTime = (time) =>
  time.getFullYear() + '-' + two(time.getMonth() + 1) + '-' + two(time.getDate()) + ' ' +
  [time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(':');
const { lang } = document.documentElement;
const format = new Intl.DateTimeFormat(lang, { dateStyle: 'medium', timeStyle: 'medium' });
const localTime = (time) => (lang === 'en' ? isoTime(time) : format.format(time));
const showTimes = () => {
  for (const place of document.querySelectorAll('time[datetime]')) {
    if (place.dataset.local) continue;
    place.dataset.local = 'true';
    place.title = place.textContent;
    place.textContent = localTime(new Date(place.dateTime));
  }
};
showTimes();
// Of what a script of the page has added.
addEventListener('added', showTimes);
for (const place of document.querySelectorAll('[data-zone]')) {
  place.textContent = place.dataset.zone === 'long' ? texts.times.replace('{zone}', timeZone) : texts.yourTime;
}
for (const field of document.querySelectorAll('input[type=datetime-local]')) {
  const sent = document.createElement('input');
  sent.type = 'hidden';
  sent.name = field.name;
  sent.value = field.value && field.value + 'Z';
  field.removeAttribute('name');
  if (sent.value) field.value = isoTime(new Date(sent.value)).replace(' ', 'T');
  field.addEventListener('input', () => { sent.value = field.value && new Date(field.value).toISOString(); });
  field.after(sent);
}

// How long something has taken, by the clock of the server.
const aheadMs = Date.now() - Date.parse(document.documentElement.dataset.now);
const showDurations = () => {
  for (const place of document.querySelectorAll('[data-since]')) {
    const seconds = Math.max(0, Math.round((Date.now() - aheadMs - Date.parse(place.dataset.since)) / 1000));
    place.textContent = (seconds < 60 ? '' : Math.floor(seconds / 60) + ' min ') + (seconds % 60) + ' s';
  }
};
showDurations();
setInterval(showDurations, 1000);

const showCopyButtons = () => {
  for (const button of document.querySelectorAll('button[data-copy]')) button.hidden = false;
};
showCopyButtons();

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
  const { from } = button.dataset;
  // A page shows the beginning of long texts.
  await copy(from ? await (await fetch(from)).text() : document.getElementById(button.dataset.copy).textContent);
  const said = button.textContent;
  if (said === texts.copied) return;
  button.textContent = texts.copied;
  setTimeout(() => { button.textContent = said; }, 1500);
});

// The timeline of a scene's plays: seeks, follows the video, and tells pages which line plays.
document.addEventListener('click', (event) => {
  const place = event.target.closest('[data-seek]');
  const video = place && document.querySelector('video');
  if (!video) return;
  // Just inside of the play: the frame before belongs to the one before.
  video.currentTime = Number(place.dataset.seek) + 0.001;
});
const follow = (video) => {
  const timeline = document.querySelector('[data-timeline]');
  if (!timeline) return;
  const at = video.currentTime;
  const strip = timeline.querySelector('svg');
  const x = Math.min(1, at / Number(strip.dataset.seconds)) * 1000 - 1.5;
  strip.querySelector('.head').setAttribute('x', x.toFixed(1));
  const plays = timeline.querySelectorAll('li');
  let now;
  for (const play of plays) if (at >= Number(play.dataset.start)) now = play;
  const was = timeline.querySelector('li.now');
  if (now === was) return;
  for (const old of timeline.querySelectorAll('.now')) old.classList.remove('now');
  const bar = now && strip.querySelector('[data-play="' + now.dataset.play + '"]');
  now?.classList.add('now');
  bar?.classList.add('now');
  // Scrolls the list only, not the page.
  const list = timeline.querySelector('ol');
  if (now) list.scrollTop = now.offsetTop - list.clientHeight / 2;
  const line = Number(now?.dataset.line) || undefined;
  for (const old of document.querySelectorAll('pre .played')) old.classList.remove('played');
  document.getElementById('line-' + line)?.classList.add('played');
  video.dispatchEvent(new CustomEvent('play-line', { detail: line }));
};
// Media events don't bubble, but can be captured.
for (const name of ['timeupdate', 'seeked']) {
  document.addEventListener(name, ({ target }) => follow(target), true);
}

// A double click sends a form once.
document.addEventListener('submit', (event) => {
  if (event.defaultPrevented) return;
  const { dataset } = event.target;
  if (dataset.sent) return event.preventDefault();
  dataset.sent = 'true';
  setTimeout(() => { delete dataset.sent; }, 2000);
});

/** What an element has in common with its successor in a newer page. */
const nameOf = (element) =>
  element.id ||
  element.getAttribute('href') ||
  [element.tagName, element.form?.getAttribute('action'), element.name, element.value, element.textContent].join();
const FOCUSABLE = 'a, button, input, select, summary, video, [tabindex]';
/** Remembers the focus in a region, and which of its details are open; the result restores both. */
const remember = (region) => {
  const active = region.contains(document.activeElement) && document.activeElement;
  const name = active && nameOf(active);
  const same = () => [...region.querySelectorAll(FOCUSABLE)].filter((element) => nameOf(element) === name);
  const index = active && same().indexOf(active);
  const details = () =>
    [...region.querySelectorAll('details')].map((place) => [nameOf(place.querySelector('summary')), place]);
  const wasOpen = new Map(details().map(([summary, { open }]) => [summary, open]));
  return () => {
    for (const [summary, place] of details()) place.open = wasOpen.get(summary) ?? place.open;
    if (!active) return;
    const successors = same();
    (successors[index] ?? successors.at(-1))?.focus({ preventScroll: true });
  };
};

let isLoading = false;
let isStale = false;
/** Replaces the regions by those of a page. */
const show = (page) => {
  for (const region of regions()) {
    const next = page.getElementById(region.id);
    // A later change shows what is left out while somebody types.
    if (region.querySelector('input:not([type=checkbox]):focus')) continue;
    // Equal elements are kept, so that a video that plays isn't interrupted.
    if (next && next.innerHTML !== region.dataset.last) {
      region.dataset.last = next.innerHTML;
      const checked = new Set([...region.querySelectorAll('input:checked')].map((box) => box.value));
      const restore = remember(region);
      region.replaceChildren(...next.childNodes);
      for (const box of region.querySelectorAll('input[type=checkbox]')) box.checked = checked.has(box.value);
      restore();
      for (const all of alls) showAll(all);
      showCopyButtons();
      showTimes();
      showDurations();
      showPictures();
      region.dispatchEvent(new Event('replaced', { bubbles: true }));
    }
  }
};
const refresh = async () => {
  if (isLoading) { isStale = true; return; }
  isLoading = true;
  try {
    const { href } = location;
    // Undefined if the server can't be reached: the page is loaded again once it is connected.
    const answer = await fetch(href, { headers: { accept: 'text/html' } }).catch(() => undefined);
    if (answer?.redirected) return location.reload();
    if (!answer?.ok) return;
    const text = await answer.text();
    // A script of the page may have changed the address meanwhile.
    if (location.href === href) show(new DOMParser().parseFromString(text, 'text/html'));
    else isStale = true;
  } finally {
    isLoading = false;
    if (isStale) { isStale = false; refresh(); }
  }
};

/** Loads the newest picture of a running job, unless one is being loaded. */
const showPicture = (jobId) => {
  const place = document.querySelector('[data-picture="' + CSS.escape(jobId) + '"]');
  if (!place || place.dataset.loading) return;
  const picture = new Image();
  picture.alt = texts.frame;
  place.dataset.loading = 'true';
  const done = () => { delete place.dataset.loading; };
  picture.addEventListener('error', done);
  picture.addEventListener('load', () => { done(); place.replaceChildren(picture); });
  picture.src = '/dashboard/jobs/' + encodeURIComponent(jobId) + '/picture?' + Date.now();
};

const showPictures = () => {
  for (const { dataset } of document.querySelectorAll('[data-picture]')) showPicture(dataset.picture);
};

if (regions().length > 0) {
  const connection = document.createElement('p');
  connection.className = 'connection';
  connection.setAttribute('role', 'status');
  document.getElementById('main').append(connection);
  let events;
  let wasOpen = false;
  let failures = 0;
  let retry;
  const connect = () => {
    events = new EventSource('/dashboard/live');
    events.addEventListener('open', () => {
      // Changes while it was disconnected.
      if (wasOpen) refresh();
      wasOpen = true;
      failures = 0;
      connection.textContent = '';
      document.documentElement.dataset.connected = 'true';
    });
    events.addEventListener('error', ({ target }) => {
      delete document.documentElement.dataset.connected;
      connection.textContent = texts.disconnected;
      // The browser connects again by itself, except after an answer that is no stream.
      if (target.readyState !== EventSource.CLOSED) return;
      disconnect();
      // Leads to the sign-in page if the session has ended.
      refresh();
      retry = setTimeout(connectIfVisible, Math.min(30_000, 1000 * 2 ** failures));
      failures += 1;
    });
    for (const [name, listener] of Object.entries(listeners)) events.addEventListener(name, listener);
  };
  const disconnect = () => {
    clearTimeout(retry);
    events?.close();
    events = undefined;
    delete document.documentElement.dataset.connected;
  };
  let timer;
  // Not for each of many.
  const refreshSoon = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      refresh();
    }, 300);
  };
  const listeners = {
    // Milliseconds since the last change of a job, when the connection opens: it may be newer than the page.
    changed({ data }) {
      if (Number(data) < performance.now()) refresh();
    },
    job: refreshSoon,
    delivery: refreshSoon,
    progress({ data }) {
      const { jobId, stage, text } = JSON.parse(data);
      for (const place of document.querySelectorAll('[data-stages="' + CSS.escape(jobId) + '"]')) {
        place.dataset.stage = stage;
      }
      for (const place of document.querySelectorAll('[data-progress="' + CSS.escape(jobId) + '"]')) {
        place.textContent = text;
      }
    },
    picture({ data }) {
      showPicture(JSON.parse(data).jobId);
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
  showPictures();
  // For pages that also show what no event announces, such as machines.
  setInterval(() => { if (!document.hidden && document.querySelector('[data-polled]')) refresh(); }, 5000);
  // Pages with scripts of their own.
  addEventListener('refresh', refresh);
  addEventListener('show', ({ detail }) => show(detail));
}
`;
