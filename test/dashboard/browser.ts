import { execFileSync } from 'node:child_process';
import { scryptSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import root, { type Test } from 'tap';
import type { Config } from '../../appliance/config/config.ts';
import { type ListeningAppliance, listeningAppliance } from '../appliance/listening-appliance.ts';

export const PASSWORD = 'a password for tests';
/** Cheap to check: N is 16 instead of 32768. */
const PASSWORD_HASH = `scrypt$4$8$1$$${scryptSync(PASSWORD, '', 32, { N: 16, r: 8, p: 1 }).toString('base64url')}`;
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let launched: Promise<Browser> | undefined;

/** The browser of this process, which takes seconds to start; each page has a context of its own. */
export function launchBrowser(_test: Test): Promise<Browser> {
  launched ??= launch();
  return launched;
}

async function launch(): Promise<Browser> {
  // Installed by the set-up.
  const executablePath = execFileSync('which', ['chromium'], { encoding: 'utf8' }).trim();
  // Its own sandbox needs user namespaces that root doesn't get; the pages are ours.
  const browser = await chromium.launch({ executablePath, chromiumSandbox: false });
  root.teardown(() => browser.close());
  return browser;
}

/** A page in a context of its own. Errors of its scripts and violations of the policy fail the test. */
export async function openPage(
  t: Test,
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await browser.newContext(options);
  t.teardown(() => context.close());
  const page = await context.newPage();
  page.on('pageerror', (error) => t.fail(`an error in ${page.url()}: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of (?:4\d\d|503)|net::ERR_FAILED/.test(message.text())) {
      t.fail(`a message in ${page.url()}: ${message.text()}`);
    }
  });
  return page;
}

/** An appliance with an administrator and a member who can sign in. */
export interface PeopledAppliance extends ListeningAppliance {
  admin: string;
  member: string;
}

export async function peopledAppliance(
  t: Test,
  options: Partial<Config> & { renders?: boolean } = {},
): Promise<PeopledAppliance> {
  const appliance = await listeningAppliance(t, options);
  const { administration, place } = appliance.installation;
  const [admin, member] = ['admin@example.org', 'member@example.org'];
  for (const [email, role] of [
    [admin, 'admin'],
    [member, 'member'],
  ] as const) {
    const { userId } = await administration.accounts.create({ email });
    await place.accountStore.changeAccount(userId, (account) => ({
      ...account,
      role,
      passwordHash: PASSWORD_HASH,
    }));
  }
  return { ...appliance, admin, member };
}

export async function signIn(page: Page, url: string, email: string): Promise<void> {
  await page.goto(`${url}/dashboard/sign-in`);
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Library' }).waitFor();
}

/** Waits until a condition of the page holds. */
export async function until(page: Page, condition: string): Promise<void> {
  // Evaluated over the protocol: the page's policy forbids eval, which waitForFunction needs.
  await page.evaluate(`new Promise((resolve) => {
    const look = () => (${condition} ? resolve() : requestAnimationFrame(look));
    look();
  })`);
}

/** Replaces the text of the playground's editor. */
export async function replaceText(page: Page, text: string): Promise<void> {
  await page.locator('.cm-content').focus();
  await page.keyboard.press('Control+A');
  await page.evaluate(`(() => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', ${JSON.stringify(text)});
    const target = document.getElementById('editor').shadowRoot.querySelector('.cm-content');
    target.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  })()`);
}

/** The findings of axe-core on a page, one line for each: of all its rules, or of these. */
export async function accessibilityFaults(page: Page, rules?: string[]): Promise<string[]> {
  // Evaluated over the protocol, which the page's policy doesn't restrict.
  await page.evaluate(AXE);
  const options = JSON.stringify(rules ? { runOnly: rules } : {});
  const { violations } = (await page.evaluate(`axe.run(${options})`)) as {
    violations: { id: string; impact: string; nodes: { html: string }[] }[];
  };
  return violations.map(
    ({ id, impact, nodes }) => `${impact} ${id}: ${nodes.map(({ html }) => html).join(' ')}`,
  );
}
