/** Plays the video of a card, muted, while it is pointed at or has the focus, unless motion is unwanted; applies filters. */
export const LIBRARY_SCRIPT: string = `
const still = matchMedia('(prefers-reduced-motion: reduce)');
const PAUSE_MS = 250;
let timer;
let shown;

const hide = () => {
  clearTimeout(timer);
  shown?.remove();
  shown = undefined;
};
const show = (picture) => {
  const video = document.createElement('video');
  video.muted = true;
  video.loop = true;
  video.playsInline = true;
  video.src = picture.dataset.video;
  shown = video;
  video.addEventListener('canplay', () => {
    if (shown !== video) return;
    picture.after(video);
    video.play().catch(() => {});
  }, { once: true });
};
const schedule = ({ target }) => {
  const picture = target.closest?.('.video')?.querySelector('img[data-video]');
  if (picture && shown && picture.nextElementSibling === shown) return;
  hide();
  if (picture?.dataset.video && !still.matches) timer = setTimeout(() => show(picture), PAUSE_MS);
};
document.addEventListener('pointerover', schedule);
document.addEventListener('focusin', schedule);
// A choice in a menu applies at once.
document.querySelector('.finder')?.addEventListener('change', ({ target, currentTarget }) => {
  if (target.matches('select, [type="checkbox"]')) currentTarget.requestSubmit();
});
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target.closest('input, select, textarea')) return;
  event.preventDefault();
  document.querySelector('.finder input')?.focus();
});
`;
