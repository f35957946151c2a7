import t, { type Test } from 'tap';
import { PLAYER_PAGE } from '../../appliance/mcp/player-page.ts';
import { FAKE_VIDEO } from '../../lib/testing/fake-artifacts.ts';
import { launchBrowser, openPage } from './browser.ts';

/** What hosts of MCP Apps apply to an app that names no other origins. */
const POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; connect-src 'none'";
const VIDEO = 'file:///videos/Hello.mp4';
const RESULT = {
  content: [{ type: 'text', text: 'Hello was rendered.' }],
  structuredContent: {
    video: VIDEO,
    plays: [
      { line: 4, shows: 'Create(Square)', startSeconds: 0, seconds: 0.4 },
      { line: 5, shows: 'FadeOut(Square)', startSeconds: 0.4, seconds: 0.6 },
    ],
  },
};

/** A host that shows the player in a sandbox, and answers it. */
const HOST = `const frame = document.querySelector('iframe');
window.messages = [];
addEventListener('message', ({ source, data }) => {
  if (source !== frame.contentWindow) return;
  window.messages.push(data);
  const answer = (result) => source.postMessage({ jsonrpc: '2.0', id: data.id, result }, '*');
  if (data.method === 'ui/initialize') answer({ hostContext: { theme: 'dark' } });
  if (data.method === 'resources/read')
    answer({ contents: [{ uri: data.params.uri, mimeType: 'video/mp4', blob: window.video }] });
});
window.tell = (method, params) => frame.contentWindow.postMessage({ jsonrpc: '2.0', method, params }, '*');`;

async function hostedPlayer(t: Test) {
  const page = await openPage(t, await launchBrowser(t));
  const player = PLAYER_PAGE.replace(
    '<meta charset',
    `<meta http-equiv="Content-Security-Policy" content="${POLICY}"><meta charset`,
  ).replaceAll('&', '&amp;');
  await page.setContent('<iframe sandbox="allow-scripts" width="600" height="500"></iframe>');
  await page.evaluate(`window.video = '${Buffer.from(FAKE_VIDEO).toString('base64')}'`);
  await page.addScriptTag({ content: HOST });
  await page.evaluate(
    `document.querySelector('iframe').srcdoc = ${JSON.stringify(player.replaceAll('&amp;', '&'))}`,
  );
  const asked = (method: string) =>
    page.evaluate(`window.messages.find((one) => one.method === '${method}')`);
  const until = async (method: string) => {
    while (!(await asked(method))) await page.evaluate('new Promise(requestAnimationFrame)');
    return asked(method);
  };
  await until('ui/notifications/initialized');
  const tell = (method: string, params: object) =>
    page.evaluate(`window.tell('ui/notifications/${method}', ${JSON.stringify(params)})`);
  return { frame: page.frameLocator('iframe'), until, tell };
}

t.test('the player shows a video and its plays, within the policy of a host', async (t) => {
  const { frame, until, tell } = await hostedPlayer(t);
  await tell('tool-input', { arguments: { className: 'Hello' } });
  await frame.getByText('Rendering Hello').waitFor();
  await tell('tool-result', RESULT);
  t.match(await until('resources/read'), { params: { uri: VIDEO } });
  const video = frame.locator('video');
  await video.and(frame.locator('video:not([hidden])')).waitFor();
  const seconds = () => video.evaluate((element: { duration: number }) => element.duration);
  while (!((await seconds()) > 0)) await frame.locator('body').evaluate('new Promise(requestAnimationFrame)');
  t.equal(await seconds(), 1);
  const play = frame.getByRole('button', { name: 'FadeOut(Square)' });
  await play.click();
  await frame.locator('button[aria-current=true]', { hasText: 'FadeOut(Square)' }).waitFor();
  t.ok((await video.evaluate((element: { currentTime: number }) => element.currentTime)) >= 0.4);
  t.match(await until('ui/notifications/size-changed'), { params: { height: Number } });
});

t.test('the player shows why there is no video', async (t) => {
  const { frame, tell } = await hostedPlayer(t);
  const text = 'line 4: error: it is broken';
  await tell('tool-result', {
    content: [{ type: 'text', text }],
    isError: true,
    structuredContent: { video: null },
  });
  await frame.getByText(text).waitFor();
  t.equal(await frame.locator('video').isVisible(), false);
});
