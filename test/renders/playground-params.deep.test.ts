// Parameters and files in the playground, with real scenes.
import type { Page } from 'playwright-core';
import t from 'tap';
import {
  accessibilityFaults,
  launchBrowser,
  openPage,
  peopledAppliance,
  replaceText,
  signIn,
  until,
} from '../dashboard/browser.ts';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const CODE = `from manim import *
from scenepress_scene import param

class Greeting(Scene):
    name = param("name", "Ada", label="Who is greeted", maximum=40)
    language = param("language", "en", choices=["en", "de"])
    seconds = param("seconds", 0.2, minimum=0.1, maximum=3)
    loud = param("loud", False, label="In capitals")
    values = param("values", [3, 1, 2], type=list)

    def construct(self):
        print(self.name, self.language, self.seconds, self.loud, self.values)
        self.add(ImageMobject())
        self.wait(self.seconds)
`;

async function* pieces(content: string | Buffer): AsyncGenerator<Uint8Array> {
  yield Buffer.from(content);
}

/** Drops a picture on the code, behind the last opening parenthesis of the line with a text. */
async function dropPicture(page: Page, name: string, text: string): Promise<void> {
  await page.evaluate(`(() => {
    const content = document.getElementById('editor').shadowRoot.querySelector('.cm-content');
    const line = [...content.querySelectorAll('.cm-line')].find((line) => line.textContent.includes('${text}'));
    line.scrollIntoView({ block: 'center' });
    const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
    let found;
    while (walker.nextNode()) if (walker.currentNode.textContent.includes('(')) found = walker.currentNode;
    const range = document.createRange();
    const at = found.textContent.lastIndexOf('(');
    range.setStart(found, at);
    range.setEnd(found, at + 1);
    const { right, top, height } = range.getBoundingClientRect();
    const dataTransfer = new DataTransfer();
    const bytes = Uint8Array.from(atob('${PNG}'), (character) => character.charCodeAt(0));
    dataTransfer.items.add(new File([bytes], '${name}'));
    const place = { clientX: right, clientY: top + height / 2 };
    content.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true, ...place }));
  })()`);
}

const codeOf = (page: Page) => page.evaluate(`document.querySelector('textarea[name=code]').value`);

t.test('a form has the parameters of the scene, and files are written by their names', async (t) => {
  const { url, member, service, installation } = await peopledAppliance(t, { renders: true });
  const { files } = installation.administration;
  for (const name of ['brand/logo.svg', 'voices/intro.txt'])
    await files.put({
      account: member,
      name,
      content: pieces('<svg xmlns="http://www.w3.org/2000/svg"></svg>'),
    });
  const page = await openPage(t, await launchBrowser(t), { viewport: { width: 1366, height: 900 } });
  await signIn(page, url, member);
  await page.goto(`${url}/dashboard/playground`);
  t.equal(await page.locator('#params').isVisible(), false, 'the first example has none');
  await replaceText(page, CODE);
  await page.getByLabel('Who is greeted').waitFor();
  await page.getByLabel('Who is greeted').fill('Emmy');
  await page.getByLabel('language').selectOption('de');
  await page.getByLabel('In capitals').check();
  await page.getByLabel('values').fill('[1, 2');
  t.equal(await page.evaluate(`document.querySelector('#param-values').validity.valid`), false);
  await page.getByLabel('values').fill('[4]');
  t.equal(
    await page.evaluate(`document.querySelector('input[name=params]').value`),
    '{"name":"Emmy","language":"de","loud":true,"values":[4]}',
  );
  t.match(
    await page.locator('#snippet-curl').textContent(),
    /api\/tools\/v1\/jobs.*"params":\{"name":"Emmy"/s,
  );

  await dropPicture(page, 'größe.png', 'ImageMobject');
  await page.getByText('größe.png was uploaded').waitFor();
  t.match(await codeOf(page), 'self.add(ImageMobject("größe.png"))');
  t.match((await files.list({ account: member, search: 'GR' })).files, [{ name: 'größe.png' }]);
  await page.getByRole('button', { name: 'Insert a file' }).click();
  await page.getByRole('dialog').getByText('brand/logo.svg').waitFor();
  t.same(await accessibilityFaults(page), []);
  await page.getByLabel('Search').fill('INTRO');
  await page.getByRole('dialog').getByText('brand/logo.svg').waitFor({ state: 'detached' });
  await page.keyboard.press('Enter');
  await until(
    page,
    `document.querySelector('textarea[name=code]').value.includes('"größe.png""voices/intro.txt"')`,
  );
  await page.keyboard.press('Control+Z');
  t.match(await codeOf(page), 'ImageMobject("größe.png"))');

  await page.keyboard.press('Control+Enter');
  await page.locator('#result [data-status=completed]').waitFor({ timeout: 60_000 });
  const [job] = await service.list({});
  t.match(job, { params: { name: 'Emmy', language: 'de', loud: true, values: [4] }, status: 'completed' });
  t.equal(await service.output(job?.jobId ?? ''), 'Emmy de 0.2 True [4]\n');
  await page.reload();
  await until(page, `document.querySelector('#param-name')?.value === 'Emmy'`);
  t.equal(await page.getByLabel('In capitals').isChecked(), true);
  t.same(await accessibilityFaults(page), []);

  await page.getByRole('link', { name: 'Open job' }).click();
  await page.getByRole('heading', { name: 'Parameters' }).waitFor();
  t.match(await page.locator('main').textContent(), /name\s*Emmy/);
  t.match(await page.locator('main').textContent(), /größe\.png/);
  t.same(await accessibilityFaults(page), []);
});
