import { createHash } from 'node:crypto';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { silentLogger } from '../../../../lib/logger.ts';
import { TexCache, type TexLease } from '../../../../lib/render/tex/tex-cache.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { testFolder } from '../../../fixtures/test-folder.ts';

const DAY_MS = 24 * 60 * 60_000;
const NOW = '2026-11-21T10:00:00Z';

function cacheIn(
  folder: string,
  { mostBytes = 1000, clock = new FakeClock(NOW), logger = silentLogger } = {},
) {
  return new TexCache({ folder: join(folder, 'tex'), mostBytes, clock, logger });
}

async function opened(t: Test, options: Parameters<typeof cacheIn>[1] = {}): Promise<[TexCache, string]> {
  const folder = testFolder(t);
  const cache = cacheIn(folder, options);
  await cache.open();
  return [cache, join(folder, 'tex')];
}

const nameOf = (owner: string) => createHash('sha256').update(owner).digest('hex');

function leaseOf(cache: TexCache, owner: string): TexLease {
  const lease = cache.lease(owner);
  if (!lease) throw new Error('nothing is kept');
  return lease;
}

async function keep(cache: TexCache, lease: TexLease, text: string): Promise<void> {
  const path = `${lease.path}.0.new`;
  writeFileSync(path, text);
  await cache.keep(lease, path);
}

t.test('each owner has a file of its own, in a folder that only the service can enter', async (t) => {
  const [cache, folder] = await opened(t);
  const [one, other] = [leaseOf(cache, 'one'), leaseOf(cache, '../../other')];
  t.not(one.path, other.path);
  await keep(cache, one, 'of one');
  await keep(cache, other, 'of the other');
  t.same(readdirSync(folder).sort(), [nameOf('one'), nameOf('../../other')].sort());
  t.equal(readFileSync(leaseOf(cache, 'one').path, 'utf8'), 'of one');
  t.equal(statSync(folder).mode & 0o777, 0o700);
});

t.test('a pack of a render from before something was forgotten is not kept', async (t) => {
  const [cache, folder] = await opened(t);
  await keep(cache, leaseOf(cache, 'one'), 'old');
  const lease = leaseOf(cache, 'one');
  await cache.forget('one');
  t.same(readdirSync(folder), []);
  await keep(cache, lease, 'old and new');
  t.same(readdirSync(folder), []);
  await keep(cache, leaseOf(cache, 'one'), 'new');
  t.same(readdirSync(folder), [nameOf('one')]);
});

t.test('an owner is forgotten also by a service that renders nothing', async (t) => {
  const folder = testFolder(t);
  await cacheIn(folder).forget('one');
  mkdirSync(join(folder, 'tex'));
  writeFileSync(join(folder, 'tex', nameOf('one')), 'old');
  await cacheIn(folder).forget('one');
  t.same(readdirSync(join(folder, 'tex')), []);
});

/** Writes a pack that was last used this long ago. */
function writePack(folder: string, owner: string, text: string, agoMs: number): void {
  const path = join(folder, 'tex', nameOf(owner));
  const usedAtS = (Date.parse(NOW) - agoMs) / 1000;
  writeFileSync(path, text);
  utimesSync(path, usedAtS, usedAtS);
}

t.test('the least recently used pack is removed first', async (t) => {
  const folder = testFolder(t, { tex: {} });
  writePack(folder, 'one', '0123456789', 2000);
  writePack(folder, 'two', '0123456789', 3000);
  writePack(folder, 'three', '0123456789', 1000);
  await cacheIn(folder, { mostBytes: 25 }).open();
  t.same(readdirSync(join(folder, 'tex')).sort(), [nameOf('one'), nameOf('three')].sort());
});

t.test('packs that were not used for a month are removed', async (t) => {
  const folder = testFolder(t, { tex: {} });
  writePack(folder, 'one', 'old', 31 * DAY_MS);
  writePack(folder, 'two', 'new', 29 * DAY_MS);
  const cache = cacheIn(folder);
  await cache.open();
  t.same(readdirSync(join(folder, 'tex')), [nameOf('two')]);
});

t.test('a start removes unfinished files, and with a size of 0 all', async (t) => {
  const unfinished = `${nameOf('one')}.3-0.new`;
  const folder = testFolder(t, { tex: { [unfinished]: 'unfinished', [nameOf('two')]: 'whole' } });
  const longAgo = Date.parse(NOW) / 1000 - 2 * 60 * 60;
  utimesSync(join(folder, 'tex', unfinished), longAgo, longAgo);
  await cacheIn(folder).open();
  t.same(readdirSync(join(folder, 'tex')), [nameOf('two')]);
  const none = cacheIn(folder, { mostBytes: 0 });
  await none.open();
  t.same(readdirSync(join(folder, 'tex')), []);
  t.equal(none.lease('one'), undefined);
});

t.test('without a usable folder nothing is kept, and a warning is logged', async (t) => {
  const folder = testFolder(t, { tex: 'a file' });
  const warnings: string[] = [];
  const logger = { ...silentLogger, warn: (_: object, text: string) => void warnings.push(text) };
  const cache = cacheIn(folder, { logger });
  await cache.open();
  t.equal(cache.lease('one'), undefined);
  t.equal(warnings.length, 1);
});

t.test('a folder that was moved or removed is made again', async (t) => {
  const warnings: string[] = [];
  const logger = {
    ...silentLogger,
    warn: (_details: object, message: string) => void warnings.push(message),
  };
  const [cache, folder] = await opened(t, { logger });
  await keep(cache, leaseOf(cache, 'one'), 'of one');
  renameSync(folder, `${folder}-moved`);
  await keep(cache, leaseOf(cache, 'other'), 'of the other');
  t.same(readdirSync(folder), [nameOf('other')]);
  t.equal(statSync(folder).mode & 0o777, 0o700);
  leaseOf(cache, 'one');
  t.match(warnings, [/moved or removed\. It is made again/]);
  t.equal(warnings.length, 1);
});
