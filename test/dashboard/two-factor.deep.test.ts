import t from 'tap';
import { stepAt, totpOf } from '../../lib/accounts/totp.ts';
import {
  accessibilityFaults,
  launchBrowser,
  openPage,
  PASSWORD,
  peopledAppliance,
  signIn,
} from './browser.ts';

t.test('two-factor sign-in is set up and used in a browser, also without scripts', async (t) => {
  const { url, member, installation } = await peopledAppliance(t);
  const { accountStore } = installation.place;
  const { accountId } = await installation.accounts.find(member);
  const browser = await launchBrowser(t);
  for (const javaScriptEnabled of [true, false]) {
    const page = await openPage(t, browser, { javaScriptEnabled, viewport: { width: 390, height: 800 } });
    const faults = async () => t.same(javaScriptEnabled ? await accessibilityFaults(page) : [], []);
    await signIn(page, url, member);
    await page.goto(`${url}/dashboard/account`);
    await faults();
    await page.getByRole('link', { name: 'Set up' }).click();
    const drawn = page.getByRole('img', { name: 'QR code for an authenticator app' });
    t.match(await drawn.boundingBox(), { width: 240, height: 240 });
    const secret = (await page.locator('#secret').textContent()) ?? '';
    await faults();
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByLabel('Code of the app').fill(totpOf(secret, stepAt(Date.now())));
    await page.getByRole('button', { name: 'Turn on' }).click();
    const codes = ((await page.locator('#recovery-codes').textContent()) ?? '').split('\n');
    t.equal(codes.length, 10);
    await faults();
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download as text' }).click();
    t.equal((await downloading).suggestedFilename(), 'scenepress-recovery-codes.txt');

    await page.getByRole('banner').getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('E-mail address').fill(member);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Enter the code' }).waitFor();
    await faults();
    // The next step would be half a minute later.
    await accountStore.changeAccount(accountId, (one) => ({ ...one, totpStep: 1 }));
    await page.getByLabel('Code of the app').fill(totpOf(secret, stepAt(Date.now())));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Library' }).waitFor();

    await page.getByRole('banner').getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('E-mail address').fill(member);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('link', { name: 'Use a recovery code' }).click();
    await page.getByLabel('Recovery code').fill(codes[0] ?? '');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Library' }).waitFor();

    await page.goto(`${url}/dashboard/account`);
    await page.getByText('9 recovery codes are left.').waitFor();
    await page.getByRole('rowheader', { name: 'Chrome on Linux this browser' }).waitFor();
    await page.getByRole('link', { name: 'Change' }).click();
    await faults();
    const turningOff = page
      .locator('section')
      .filter({ has: page.getByRole('heading', { name: 'Turn off' }) });
    await turningOff.getByLabel('Password').fill(PASSWORD);
    await turningOff.getByLabel(/^Code of the app/).fill(codes[1] ?? '');
    await turningOff.getByRole('button', { name: 'Turn off' }).click();
    await page.getByText('Two-factor sign-in is off.').waitFor();
  }
});
