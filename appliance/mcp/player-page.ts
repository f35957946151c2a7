const STYLE = `:root { color-scheme: light dark; font: 14px/1.5 var(--font-sans, system-ui, sans-serif) }
[hidden] { display: none !important }
body { margin: 0; padding: 8px; color: var(--color-text-primary, CanvasText) }
video { display: block; width: 100%; max-height: 70vh; background: #000; border-radius: 6px }
p { margin: 8px 0; white-space: pre-wrap; overflow-wrap: anywhere }
ol { display: flex; gap: 2px; margin: 8px 0 0; padding: 0; list-style: none }
li { flex: 1 1 0; min-width: 4px }
button { width: 100%; padding: 4px; border: 0; border-radius: 3px; overflow: hidden; white-space: nowrap;
  text-overflow: ellipsis; font: inherit; color: inherit; cursor: pointer;
  background: var(--color-background-secondary, rgb(128 128 128 / .2)) }
button[aria-current=true] { background: rgb(88 196 221 / .6) }
`;

/** The protocol of MCP Apps: JSON-RPC by messages to the host, which passes `resources/read` on to the server. */
const SCRIPT = `const video = document.querySelector('video');
const note = document.querySelector('p');
const timeline = document.querySelector('ol');
const pending = new Map();
let lastId = 0;
let plays = [];

function post(message) {
  window.parent.postMessage({ jsonrpc: '2.0', ...message }, '*');
}

function ask(method, params) {
  const id = ++lastId;
  post({ id, method, params });
  return new Promise((resolve, reject) => pending.set(id, { resolve, reject }));
}

addEventListener('message', ({ source, data }) => {
  if (source !== window.parent || data?.jsonrpc !== '2.0') return;
  if (data.method === undefined) {
    const { resolve, reject } = pending.get(data.id) ?? {};
    pending.delete(data.id);
    if (data.error) reject?.(new Error(data.error.message));
    else resolve?.(data.result);
  } else if (data.method === 'ui/notifications/tool-input') {
    say('Rendering ' + (data.params?.arguments?.className ?? 'the scene') + ' …');
  } else if (data.method === 'ui/notifications/tool-result') void show(data.params);
  else if (data.method === 'ui/notifications/tool-cancelled') say('The render was canceled.');
  else if (data.method === 'ui/notifications/host-context-changed') adopt(data.params);
  else if (data.id !== undefined) post({ id: data.id, result: {} });
});

function say(text) {
  note.textContent = text;
  note.hidden = text === '';
}

function adopt(context) {
  if (context?.theme) document.documentElement.style.colorScheme = context.theme;
  for (const [name, value] of Object.entries(context?.styles?.variables ?? {}))
    if (value !== undefined) document.documentElement.style.setProperty(name, value);
}

async function show({ structuredContent: job, content = [] }) {
  if (!job?.video) return say(content.find(({ type }) => type === 'text')?.text ?? 'There is no video.');
  plays = job.plays ?? [];
  video.hidden = false;
  timeline.replaceChildren(...plays.map(segmentOf));
  say('');
  try {
    video.src = job.video.startsWith('file:') ? await sent(job.video) : job.video;
  } catch {
    video.hidden = true;
    say('The video is at ' + job.video);
  }
}

async function sent(uri) {
  const { contents: [{ mimeType, blob }] } = await ask('resources/read', { uri });
  return 'data:' + mimeType + ';base64,' + blob;
}

function segmentOf({ shows, startSeconds, seconds, line }) {
  const item = document.createElement('li');
  item.style.flexGrow = String(Math.max(seconds, 0.01));
  const button = document.createElement('button');
  button.textContent = shows;
  button.title = shows + ', ' + startSeconds.toFixed(1) + ' s' + (line > 0 ? ', line ' + line : '');
  button.onclick = () => {
    video.currentTime = startSeconds;
    void video.play();
  };
  item.append(button);
  return item;
}

video.ontimeupdate = () => {
  const at = plays.findLastIndex(({ startSeconds }) => startSeconds <= video.currentTime + 0.01);
  timeline.querySelectorAll('button').forEach((button, index) =>
    button.setAttribute('aria-current', String(index === at)));
};
video.onerror = () => say('The video can’t be played here: ' + (video.src.startsWith('data:') ? '' : video.src));

const started = await ask('ui/initialize', {
  protocolVersion: '2026-01-26',
  appInfo: { name: 'scenepress-player', version: '1' },
  appCapabilities: { availableDisplayModes: ['inline'] },
});
adopt(started?.hostContext);
post({ method: 'ui/notifications/initialized' });
new ResizeObserver(() => {
  const { width, height } = document.documentElement.getBoundingClientRect();
  post({ method: 'ui/notifications/size-changed', params: { width: Math.ceil(width), height: Math.ceil(height) } });
}).observe(document.documentElement);
`;

/** The player as an app of MCP hosts: a document without other files, which is given the result of a tool. */
export const PLAYER_PAGE: string = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Scenepress</title>
<style>
${STYLE}</style>
<main>
<video controls playsinline hidden></video>
<ol aria-label="Plays"></ol>
<p role="status">Waiting for the video …</p>
</main>
<script type="module">
${SCRIPT}</script>
</html>
`;
