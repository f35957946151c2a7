// A presentation of a real scene in Chromium: without a network from a file, and in the sandbox in which a service serves it.
import { execFileSync } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { scenepress } from '../appliance/command.ts';
import { listeningAppliance } from '../appliance/listening-appliance.ts';
import { launchBrowser, openPage, until } from '../dashboard/browser.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const CODE = `from manim import *
from manim_slides import Slide


class Deck(Slide):
    def construct(self):
        title = Text("Circles & <squares>", font_size=64)
        self.add_subcaption("Circles & <b>squares</b>", duration=0.3)
        self.play(FadeIn(title), run_time=0.4)
        self.next_slide(notes="Say hello.\\n</script><b>Not markup</b>")
        ring = Circle(color=BLUE).shift(2 * LEFT)
        self.play(title.animate.to_edge(UP), Create(ring), run_time=0.4)
        self.next_slide(loop=True, notes="It turns until you go on.")
        dot = Dot(color=YELLOW).move_to(ring.get_right())
        self.play(Rotating(dot, about_point=ring.get_center(), angle=TAU), run_time=0.6)
        self.next_slide(auto_next=True)
        self.play(FadeOut(dot), run_time=0.4)
        self.next_slide(notes="The last one.")
        self.play(ring.animate.set_fill(BLUE, 0.6), Create(Square().shift(2 * RIGHT)), run_time=0.4)


class Plain(Scene):
    def construct(self):
        self.play(Create(Square()), run_time=0.4)
        self.play(FadeOut(Square()), run_time=0.4)
        self.wait(0.2)
`;
const STEPS = 5;
/** Steps that have been reached, and whether one plays. */
const STATE = `[at, isPlaying]`;

const stateOf = (page: Page) => page.evaluate(STATE);
const rests = (page: Page, step: number) => until(page, `at === ${step} && !isPlaying && !still.hidden`);

async function deck(t: Test, className: string): Promise<string> {
  const cwd = await temporaryFolder(t);
  await chmod(cwd, 0o755);
  await writeFile(join(cwd, 'deck.py'), CODE);
  const words = ['render', 'deck.py', className, '-q', 'low', '--formats', 'slides,pdf', '-o', 'deck.mp4'];
  const { code, stderr } = await scenepress(words, { cwd });
  t.equal(code, 0, stderr);
  return cwd;
}

/** Counts the pages of a PDF, and renders the first one, so that a program of others has read it. */
function pagesOf(pdf: string): number {
  const found = execFileSync('python3', ['-c', PAGES, pdf], { encoding: 'utf8' });
  return Number(found);
}
const PAGES = `
import re, sys
data = open(sys.argv[1], "rb").read()
places = [int(place) for place in re.findall(rb"^(\\d{10}) 00000 n ", data, re.M)]
for number, place in enumerate(places, 1):
    assert data[place:].startswith(b"%d 0 obj" % number), number
start = int(re.search(rb"startxref\\n(\\d+)\\n%%EOF\\n$", data)[1])
assert data[start:].startswith(b"xref")
print(len(re.findall(rb"/Type /Page\\b[^s]", data)))
`;

t.test('the slides of a scene are presented from a file, without a network', async (t) => {
  const cwd = await deck(t, 'Deck');
  t.equal(pagesOf(join(cwd, 'deck-slides.pdf')), STEPS);
  const page = await openPage(t, await launchBrowser(t), {
    offline: true,
    viewport: { width: 1280, height: 720 },
  });
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  await page.goto(pathToFileURL(join(cwd, 'deck-slides.html')).href);
  t.equal(await page.title(), 'Deck');
  t.same(await stateOf(page), [-1, false]);

  await page.keyboard.press('ArrowRight');
  await rests(page, 0);
  await page.keyboard.press('Space');
  await until(page, 'at === 1 && isPlaying && still.hidden');
  await rests(page, 1);
  const time = Number(await page.evaluate('video.currentTime'));
  t.ok(Math.abs(time - 0.8) < 0.15, `it ends with its step: ${time}`);

  await page.keyboard.press('PageDown');
  await page.evaluate(`video.addEventListener('seeked', () => { window.loops = (window.loops ?? 0) + 1; })`);
  await until(page, 'window.loops > 2 && at === 2 && isPlaying');
  await page.keyboard.press('ArrowRight');
  await until(page, 'at === 4');
  await rests(page, 4);
  t.equal(await page.locator('#tools span').textContent(), `${STEPS} / ${STEPS}`);
  await page.keyboard.press('ArrowRight');
  t.same(await stateOf(page), [4, false], 'nothing follows');
  await page.keyboard.press('ArrowLeft');
  t.same(await stateOf(page), [3, false]);
  await page.keyboard.press('Home');

  await page.getByRole('button', { name: 'Captions' }).click();
  t.equal(await page.evaluate('track.mode'), 'showing');
  t.same(await page.evaluate('[...track.cues].map((cue) => cue.getCueAsHTML().textContent)'), [
    'Circles & <b>squares</b>',
  ]);
  await page.keyboard.press('c');
  t.equal(await page.evaluate('track.mode'), 'hidden');

  await page.keyboard.press('ArrowRight');
  await rests(page, 0);
  await page.keyboard.press('s');
  t.equal(await page.locator('#notes p').textContent(), '');
  t.equal(await page.locator('#next h2').textContent(), 'Next: slide 2');
  await page.keyboard.press('End');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  t.equal(await page.locator('#notes p').textContent(), 'Say hello.\n</script><b>Not markup</b>');
  await page.keyboard.press('Escape');
  await page.keyboard.press('o');
  t.equal(await page.locator('#overview figure').count(), STEPS);
  await page.locator('#overview figure').nth(4).click();
  t.same(await stateOf(page), [4, false]);
  await page.keyboard.press('?');
  await page.getByText('speaker view with notes').waitFor();
  await page.keyboard.press('Escape');
  t.same(
    requests.filter((url) => !/^(file|data|blob):/.test(url)),
    [],
  );

  const printed = await page.pdf({ preferCSSPageSize: true });
  t.equal(printed.toString('latin1').match(/\/Type \/Page\b[^s]/g)?.length, STEPS, 'a page for each step');
});

t.test('a tap or a swipe goes on', async (t) => {
  const cwd = await deck(t, 'Plain');
  t.equal(pagesOf(join(cwd, 'deck-slides.pdf')), 3, 'plays are the steps of a scene without slides');
  const page = await openPage(t, await launchBrowser(t), {
    hasTouch: true,
    viewport: { width: 390, height: 700 },
  });
  await page.goto(pathToFileURL(join(cwd, 'deck-slides.html')).href);
  await page.touchscreen.tap(300, 300);
  await rests(page, 0);
  await page.touchscreen.tap(300, 300);
  await rests(page, 1);
  await page.touchscreen.tap(20, 300);
  t.same(await stateOf(page), [0, false]);
  await page.mouse.move(300, 300);
  await page.mouse.down();
  await page.mouse.move(100, 310, { steps: 3 });
  await page.mouse.up();
  await rests(page, 1);
  for (const button of ['Speaker view', 'All steps', 'Keys']) {
    const size = await page.getByRole('button', { name: button }).boundingBox();
    t.ok((size?.height ?? 0) >= 44 && (size?.width ?? 0) >= 44, `${button} can be touched`);
  }
});

t.test('a service serves a presentation in a sandbox of its own origin', async (t) => {
  const { askAs, key } = await listeningAppliance(t, { renders: true });
  const body = JSON.stringify({ code: CODE, className: 'Deck', quality: 'low', formats: ['slides', 'pdf'] });
  const headers = { prefer: 'wait=60' };
  const { json } = await askAs(key, '/api/tools/v1/jobs', { method: 'POST', body, headers });
  t.equal(json['status'], 'completed', `${json['error']}`);
  const links = json['result'] as Record<string, string>;
  const response = await fetch(links['slides'] ?? '');
  t.equal(response.headers.get('content-security-policy'), 'sandbox allow-scripts allow-modals');
  t.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
  const pdf = await fetch(links['pdf'] ?? '');
  t.match(pdf.headers.get('content-disposition'), /^attachment/);
  t.match(Buffer.from(await pdf.arrayBuffer()).toString('latin1'), /^%PDF-1\.4\n/);

  const page = await openPage(t, await launchBrowser(t));
  await page.goto(links['slides'] ?? '');
  t.equal(await page.evaluate('origin'), 'null');
  const storage = `(() => { try { return localStorage.length; } catch ({ name }) { return name; } })()`;
  t.equal(await page.evaluate(storage), 'SecurityError', 'what the dashboard stores is out of reach');
  await page.keyboard.press('ArrowRight');
  await rests(page, 0);
});

t.test('the file has the video as it is', async (t) => {
  const cwd = await deck(t, 'Plain');
  const page = await readFile(join(cwd, 'deck-slides.html'), 'utf8');
  const [, data = ''] = /<script type="text\/plain" id="data">([^<]*)</.exec(page) ?? [];
  t.ok(Buffer.from(data, 'base64').equals(await readFile(join(cwd, 'deck.mp4'))));
});
