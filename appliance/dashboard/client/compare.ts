// The script of the page with two videos of a scene: one control for both, which keeps them in step. Without it, each has
// controls of its own.
import type { scenes } from '../language/en/scenes.ts';
import { textsOfPage } from './texts.ts';

/** More apart than this while they play, the one that is not followed is moved. */
const MOST_APART_S = 0.12;

const texts = textsOfPage<(typeof scenes)['script']>();
const find = <T extends Element>(selector: string): T => document.querySelector(selector) as T;

const place = find<HTMLElement>('#compare');
const videos = [...place.querySelectorAll('video')];
const controls = find<HTMLElement>('#controls');
const button = find<HTMLButtonElement>('#controls [data-do=play]');
const slider = find<HTMLInputElement>('#controls input');
const output = find<HTMLOutputElement>('#controls output');
const fps = Number(place.dataset['fps']);
const digits = { minimumFractionDigits: 2, maximumFractionDigits: 2, minimumIntegerDigits: 2 };
const { format } = new Intl.NumberFormat(document.documentElement.lang, digits);

let isPlaying = false;

void Promise.all(videos.map(loaded)).then(
  () => take(),
  // One can't be shown: the other still can.
  () => {},
);

async function loaded(video: HTMLVideoElement): Promise<void> {
  if (video.readyState >= HTMLMediaElement.HAVE_METADATA) return;
  if (video.error) throw new Error(video.error.message);
  await new Promise((resolve, reject) => {
    video.addEventListener('loadedmetadata', resolve, { once: true });
    video.addEventListener('error', reject, { once: true });
  });
}

/** Takes the place of the controls of each. */
function take(): void {
  for (const video of videos) {
    video.controls = false;
    video.addEventListener('click', toggle);
    // While one waits for data, so does the other.
    video.addEventListener('waiting', () => {
      if (isPlaying) for (const other of others(video)) other.pause();
    });
    video.addEventListener('playing', () => isPlaying && void play());
    video.addEventListener('ended', () => others(video).every(({ ended }) => ended) && pause());
    video.addEventListener('seeked', show);
  }
  slider.max = String(duration());
  slider.step = String(1 / fps);
  slider.addEventListener('input', () => seek(Number(slider.value)));
  controls.hidden = false;
  controls.addEventListener('click', ({ target }) => {
    const name = (target as Element).closest<HTMLElement>('[data-do]')?.dataset['do'];
    if (name === 'play') toggle();
    if (name === 'back') step(-1);
    if (name === 'forward') step(1);
  });
  document.addEventListener('keydown', onKey);
  seek(0);
}

function onKey(event: KeyboardEvent): void {
  const isControl = (event.target as Element).closest('button, select, a, summary, input:not([type=range])');
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === ' ' && !isControl) toggle();
  else if (event.key === ',' && !isControl) step(-1);
  else if (event.key === '.' && !isControl) step(1);
  else return;
  event.preventDefault();
}

function others(video: HTMLVideoElement): HTMLVideoElement[] {
  return videos.filter((other) => other !== video);
}

function duration(): number {
  return Math.max(...videos.map((video) => video.duration));
}

/** The video whose time is that of both: the one that is not at its end. */
function leader(): HTMLVideoElement {
  const [first, second] = videos as [HTMLVideoElement, HTMLVideoElement];
  return first.duration >= second.duration ? first : second;
}

function toggle(): void {
  if (isPlaying) {
    pause();
    return;
  }
  if (leader().currentTime >= duration() - 1 / fps) seek(0);
  isPlaying = true;
  void play();
  requestAnimationFrame(follow);
  show();
}

/** Plays those that are not at their end. */
async function play(): Promise<void> {
  const at = leader().currentTime;
  const playable = videos.filter((video) => video.paused && at < video.duration);
  await Promise.all(playable.map((video) => video.play().catch(() => {})));
}

function pause(): void {
  isPlaying = false;
  for (const video of videos) video.pause();
  if (leader().ended) show();
  else seek(leader().currentTime);
}

/** While they play, at each frame of the screen. */
function follow(): void {
  if (!isPlaying) return;
  const first = leader();
  for (const video of others(first))
    if (first.currentTime < video.duration && Math.abs(video.currentTime - first.currentTime) > MOST_APART_S)
      video.currentTime = first.currentTime;
  show();
  requestAnimationFrame(follow);
}

/** Shows the frame of a time in both; the last one of a video that is shorter. */
function seek(seconds: number): void {
  const at = Math.min(Math.max(0, seconds), duration());
  for (const video of videos) video.currentTime = Math.min(at, video.duration);
  show();
}

/** To the middle of a frame: its beginning might be rounded to the one before. */
function step(frames: number): void {
  pause();
  const frame = Math.floor(leader().currentTime * fps + 1e-6) + frames;
  const last = Math.max(0, Math.ceil(duration() * fps - 1e-6) - 1);
  seek((Math.min(Math.max(0, frame), last) + 0.5) / fps);
}

function show(): void {
  const at = leader().currentTime;
  slider.value = String(at);
  output.value = `${clock(at)} / ${clock(duration())}`;
  slider.setAttribute('aria-valuetext', clock(at));
  button.textContent = isPlaying ? texts.pause : texts.play;
}

/** `0:03.20`. */
function clock(seconds: number): string {
  const hundredths = Math.round(seconds * 100);
  return `${Math.floor(hundredths / 6000)}:${format((hundredths % 6000) / 100)}`;
}
