/** The script of the pages of shared videos: without it, the browser's own controls play the video. */
export const SCRIPT: string = `
const video = document.querySelector('video');
if (video) {
  const isEmbedded = document.body.classList.contains('embed');
  const frame = 1 / (Number(video.dataset.fps) || 30);
  const end = () => (Number.isFinite(video.duration) ? video.duration : 0);
  const seek = (seconds) => { begun(); video.currentTime = Math.min(Math.max(0, seconds), end()); };
  const play = () => { begun(); if (video.paused) video.play().catch(() => {}); else video.pause(); };
  if (video.dataset.kept) {
    video.setAttribute('controlslist', 'nodownload');
    video.addEventListener('contextmenu', (event) => event.preventDefault());
  }

  // The chosen picture is a frame of the video, which begins where it would without it.
  let isPoster = video.dataset.poster !== '';
  const begun = () => { isPoster = false; };
  if (isPoster) {
    const show = () => {
      if (!isPoster) return;
      video.removeAttribute('poster');
      video.currentTime = Math.min(Number(video.dataset.poster), Math.max(0, end() - frame));
    };
    if (video.readyState > 0) show();
    else video.addEventListener('loadedmetadata', show, { once: true });
    video.addEventListener('play', () => {
      if (!isPoster) return;
      begun();
      video.currentTime = 0;
    });
  }

  const speed = document.getElementById('speed');
  if (speed) {
    speed.parentElement.hidden = false;
    speed.addEventListener('change', () => { video.playbackRate = Number(speed.value); });
    video.addEventListener('ratechange', () => { speed.value = String(video.playbackRate); });
  }
  const keys = document.querySelector('.keys');
  if (keys) keys.hidden = false;

  const chapters = [...document.querySelectorAll('[data-seek]')];
  for (const link of chapters)
    link.addEventListener('click', (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      seek(Number(link.dataset.seek));
      video.focus({ preventScroll: true });
      video.play().catch(() => {});
    });
  video.addEventListener('timeupdate', () => {
    const now = chapters.findLast((link) => Number(link.dataset.seek) <= video.currentTime + 0.01);
    for (const link of chapters) {
      if (link === now && !isPoster) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    }
  });
  const next = document.querySelector('a[rel=next]');
  if (next && !isEmbedded) video.addEventListener('ended', () => { if (!document.fullscreenElement) next.focus(); });

  const step = (by) => { video.pause(); seek(video.currentTime + by * frame); };
  const louder = (by) => { video.volume = Math.min(1, Math.max(0, video.volume + by)); };
  const screen = () => {
    if (document.fullscreenElement) document.exitFullscreen();
    else if (video.requestFullscreen) video.requestFullscreen().catch(() => {});
    else video.webkitEnterFullscreen?.();
  };
  const acts = {
    ' ': play, k: play, j: () => seek(video.currentTime - 10), l: () => seek(video.currentTime + 10),
    ArrowLeft: () => seek(video.currentTime - 5), ArrowRight: () => seek(video.currentTime + 5),
    ArrowUp: () => louder(0.1), ArrowDown: () => louder(-0.1),
    ',': () => step(-1), '.': () => step(1), f: screen, m: () => { video.muted = !video.muted; },
    Home: () => seek(0), End: () => seek(end()),
  };
  // Before the video's own controls, which would act as well.
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const { target } = event;
    if (target instanceof Element && target.closest('select, input, textarea, summary, a, button')) {
      if (event.key === ' ' || event.key.startsWith('Arrow') || target.closest('select')) return;
    }
    const act = acts[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }, true);
}
`;
