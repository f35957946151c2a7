import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, extname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { openRegularFile } from '../../lib/internal.ts';
import { byteRangeOf } from '../../lib/web/index.ts';

/** What became of a scene. */
export interface Played {
  scene: string;
  /** The video or picture, or a folder of pictures; null if the render failed. */
  video: string | null;
  error: string | null;
}

const TOKEN_BYTES = 16;
/** Other users of the machine may connect; files that they hold open must not use up this process's. */
const CONNECTIONS_MAX = 64;
const TYPES: Record<string, string> = {
  '.mp4': 'video/mp4',
  '.webm': 'video/webm',
  '.mov': 'video/quicktime',
  '.gif': 'image/gif',
  '.png': 'image/png',
};
const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Scenepress</title>
<link rel="stylesheet" href="style.css">
<main></main>
<p role="status"></p>
<script src="script.js"></script>
</html>
`;
const STYLE = `:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }
body { margin: 1rem }
figure { margin: 0 0 1.5rem }
video, img { max-width: 100%; max-height: 88vh; background: #000 }
pre { white-space: pre-wrap; overflow-wrap: anywhere }
`;
/** Elements stay, so that a player keeps its volume and its size. */
const SCRIPT = `const main = document.querySelector('main');
const ended = document.querySelector('[role=status]');
const events = new EventSource('events');
events.onmessage = ({ data }) => {
  const { version, scenes, error } = JSON.parse(data);
  ended.textContent = '';
  main.replaceChildren(...scenes.map((scene) => figureOf(scene, version)), ...(error ? [textOf(error)] : []));
  for (const video of main.querySelectorAll('video')) video.play().catch(() => {});
};
events.addEventListener('end', () => {
  events.close();
  ended.textContent = 'The command has ended.';
});
events.onerror = () => { ended.textContent = 'The command does not answer.'; };

function figureOf({ scene, kind, name, error }, version) {
  const id = 'scene-' + scene;
  const old = document.getElementById(id);
  const figure = document.createElement('figure');
  figure.id = id;
  const caption = document.createElement('figcaption');
  caption.textContent = error ? scene : scene + ': ' + name;
  figure.append(caption);
  if (error) figure.append(textOf(error));
  if (kind === 'none') return figure;
  const media = old?.querySelector(kind) ?? document.createElement(kind);
  if (kind === 'video' && !old?.contains(media)) {
    Object.assign(media, { controls: true, loop: true, muted: true, autoplay: true });
    media.onerror = () => { caption.textContent += ' (this browser cannot play it)'; };
  }
  media.src = 'files/' + encodeURIComponent(scene) + '?version=' + version;
  figure.append(media);
  return figure;
}

function textOf(text) {
  const pre = document.createElement('pre');
  pre.textContent = text;
  return pre;
}
`;
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
};

/** A page on this machine that plays the last videos of some scenes, and shows new ones by itself. */
export class PlayerPage {
  readonly #server: Server;
  readonly #token = randomBytes(TOKEN_BYTES).toString('hex');
  readonly #listeners = new Set<ServerResponse>();
  #version = 0;
  #scenes: Played[] = [];
  #error: string | null = null;

  constructor() {
    this.#server = createServer((request, response) => {
      void this.#answer(request, response).catch(() => response.destroy()); // The page was closed.
    });
  }

  /**
   * Resolves with the URL, which can't be guessed. A browser that is opened with it may show it to other users of the
   * machine, among its arguments.
   */
  async start(): Promise<string> {
    this.#server.maxConnections = CONNECTIONS_MAX;
    this.#server.on('connection', (socket) => socket.unref());
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}/${this.#token}/`;
  }

  /** Shows these scenes instead of those before, or an error of the whole file. */
  show(scenes: Played[], error: string | null = null): void {
    this.#version += 1;
    this.#scenes = scenes;
    this.#error = error;
    for (const response of this.#listeners) response.write(this.#event());
  }

  /** Ends the page; what it still downloads doesn't keep the process running. */
  stop(): void {
    for (const response of this.#listeners) response.end('event: end\ndata:\n\n');
    this.#server.close();
  }

  #event(): string {
    const scenes = this.#scenes.map(({ scene, video, error }) => ({
      scene,
      kind: kindOf(video),
      name: video && basename(video),
      error,
    }));
    return `data: ${JSON.stringify({ version: this.#version, scenes, error: this.#error })}\n\n`;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const { pathname } = new URL(request.url ?? '/', 'http://127.0.0.1');
    const [, token, place = '', scene] = pathname.split('/');
    const send = (type: string, body: string) => void response.setHeader('Content-Type', type).end(body);
    if (token !== this.#token || request.method !== 'GET') return void response.writeHead(404).end();
    if (place === '') return send('text/html; charset=utf-8', PAGE);
    if (place === 'style.css') return send('text/css', STYLE);
    if (place === 'script.js') return send('text/javascript', SCRIPT);
    if (place === 'events') return this.#listen(response);
    const path = this.#scenes.find((one) => encodeURIComponent(one.scene) === scene)?.video;
    if (place !== 'files' || !path) return void response.writeHead(404).end();
    await sendFile(path, request, response);
  }

  #listen(response: ServerResponse): void {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.write(this.#event());
    this.#listeners.add(response);
    response.on('close', () => this.#listeners.delete(response));
  }
}

function kindOf(path: string | null): 'video' | 'img' | 'none' {
  const [kind] = TYPES[extname(path ?? '')]?.split('/') ?? [];
  return kind === 'video' ? 'video' : kind === 'image' ? 'img' : 'none';
}

/** Players ask for ranges. */
async function sendFile(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const file = await openRegularFile(path);
  try {
    const { size } = await file.stat();
    const range = byteRangeOf(request.headers.range, size);
    if (range === 'unsatisfiable')
      return void response.writeHead(416, { 'Content-Range': `bytes */${size}` }).end();
    const { start, end } = range ?? { start: 0, end: size - 1 };
    response.writeHead(range ? 206 : 200, {
      'Content-Type': TYPES[extname(path)],
      'Accept-Ranges': 'bytes',
      'Content-Length': end - start + 1,
      ...(range && { 'Content-Range': `bytes ${start}-${end}/${size}` }),
    });
    await pipeline(file.createReadStream({ start, end, autoClose: false }), response);
  } finally {
    await file.close();
  }
}
