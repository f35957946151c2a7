import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { Turns } from '../../appliance/dashboard/turns.ts';
import type { ErrorSearchResult } from '../../lib/jobs/watch/search-errors.ts';
import { until } from '../fixtures/until.ts';
import { peopledAppliance } from './browser.ts';
import { signedIn } from './client.ts';

t.test('the work of an account takes turns, in order, whatever fails', async (t) => {
  const turns = new Turns({ atOnce: 2, mostWaiting: 3 });
  const done: number[] = [];
  let running = 0;
  let most = 0;
  const work = (number: number) => async () => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    done.push(number);
    if (number === 2) throw new Error('it failed');
  };
  const all = await Promise.allSettled([1, 2, 3, 4, 5, 6].map((number) => turns.run('a', work(number))));
  t.same(
    all.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled', 'rejected'],
  );
  t.match(all[5], { reason: { output: { statusCode: 429, headers: { 'retry-after': '1' } } } });
  t.same([done, most, turns.size], [[1, 2, 3, 4, 5], 2, 0]);
  await turns.run('a', work(7));
  t.equal(turns.size, 0, 'nothing is kept of it');
});

t.test('one page of an account is made at a time; others get theirs', async (t) => {
  const { port, admin, member, service } = await peopledAppliance(t);
  const [ofMember, ofAdmin] = [await signedIn(t, port, member), await signedIn(t, port, admin)];
  const [, csrf = ''] =
    /name="csrf" value="([^"]+)"/.exec((await ofMember.get('/dashboard/account')).text) ?? [];
  const searches: ((found: ErrorSearchResult) => void)[] = [];
  service.searchErrors = () => new Promise((resolve) => searches.push(resolve));
  const search = () => ofMember.get('/dashboard/jobs?error=x');
  const first = search();
  await until(() => searches.length === 1);
  const waiting = Array.from({ length: 100 }, search);
  const refused = await Promise.race(Array.from({ length: 5 }, search));
  t.match(refused, { status: 429, headers: { 'retry-after': '1' } });
  t.match(refused.text, 'Too many pages of your account are being loaded at the same time.');
  t.equal(searches.length, 1, 'no second search has begun');
  t.equal((await ofAdmin.get('/dashboard/account')).status, 200, 'another account does not wait');
  const form = await ofMember.postAsIs('/dashboard/keys', { csrf, name: 'x', scopes: 'render' });
  t.equal(form.status, 303, 'forms have turns of their own');
  const answering = setInterval(() => {
    for (const resolve of searches.splice(0)) resolve({ jobs: [], examined: 0, next: null });
  }, 1);
  t.teardown(() => clearInterval(answering));
  const answers = await Promise.all([first, ...waiting]);
  t.ok(answers.every(({ status }) => status === 200 || status === 429));
  t.ok(answers.filter(({ status }) => status === 200).length >= 96);
});

t.test('no page is made for a client that has gone', async (t) => {
  const { port, member, service } = await peopledAppliance(t);
  const client = await signedIn(t, port, member);
  const cookie = Array.from(client.cookies, ([name, value]) => `${name}=${value}`).join('; ');
  let searches = 0;
  let answer = (_: ErrorSearchResult) => {};
  service.searchErrors = () => {
    searches += 1;
    return new Promise((resolve) => {
      answer = resolve;
    });
  };
  const first = client.get('/dashboard/jobs?error=x');
  await until(() => searches === 1);
  const path = '/dashboard/jobs?error=y';
  const gone = request({ host: '127.0.0.1', port, path, headers: { cookie }, agent: false });
  gone.on('error', () => {});
  gone.end();
  await delay(100);
  gone.destroy();
  await delay(100);
  answer({ jobs: [], examined: 0, next: null });
  t.equal((await first).status, 200);
  t.equal((await client.get('/dashboard/account')).status, 200);
  t.equal(searches, 1);
});
