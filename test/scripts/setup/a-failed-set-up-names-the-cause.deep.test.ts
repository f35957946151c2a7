import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import t, { type Test } from 'tap';
import { SmallCheckout } from './small-checkout.ts';

/** Root without capabilities: file modes apply to it. */
const WITHOUT_CAPABILITIES =
  process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all', '--'] : [];

/** An address where nothing listens. */
async function deadAddress(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}`;
}

/** One sentence of what happened and one of what to do, on one line. */
async function refused(t: Test, started: ReturnType<SmallCheckout['start']>, message: RegExp): Promise<void> {
  const { code, stderr } = await started.ended;
  t.equal(code, 1);
  t.match(stderr, message);
  t.equal(stderr.trim().split('\n').length, 1, stderr);
}

t.test('without a network', async (t) => {
  const checkout = await SmallCheckout.make(t);
  const dead = await deadAddress();
  const env = { npm_config_registry: dead, npm_config_fetch_retries: '0' };
  await refused(
    t,
    checkout.start([], { env }),
    /^Installing npm packages: the npm registry \(127\.0\.0\.1\) can't be reached\. Check the network.* Log: \S+setup\.log$/m,
  );
  const python = { PIP_NO_INDEX: '', PIP_FIND_LINKS: '', PIP_INDEX_URL: `${dead}/simple`, PIP_RETRIES: '1' };
  await refused(
    t,
    checkout.start([], { env: python }),
    /^Installing Python packages: the Python package index.* can't be reached\. Check the network/,
  );
  const { code, stderr } = await checkout.start().ended;
  t.equal(code, 0, stderr);
});

t.test('in a folder of another user', async (t) => {
  const checkout = await SmallCheckout.make(t);
  chmodSync(checkout.root, 0o555);
  t.teardown(() => chmodSync(checkout.root, 0o755));
  await refused(
    t,
    checkout.start([], { launcher: WITHOUT_CAPABILITIES }),
    /^The set-up is incomplete, and \S+\.setup can't be written by this user \(user id \d+\)\. .*chown -R/,
  );
});

t.test('beside node_modules that it may not create', async (t) => {
  const checkout = await SmallCheckout.make(t);
  mkdirSync(checkout.path('.setup'));
  chmodSync(checkout.path('.setup'), 0o777);
  chmodSync(checkout.root, 0o555);
  t.teardown(() => chmodSync(checkout.root, 0o755));
  await refused(
    t,
    checkout.start([], { launcher: WITHOUT_CAPABILITIES }),
    /^Installing npm packages: \S+node_modules can't be written by this user \(user id \d+\)\. .*chown -R/,
  );
});

t.test('with a Python that is too old, or none', async (t) => {
  const checkout = await SmallCheckout.make(t);
  const old = checkout.path('python');
  writeFileSync(old, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const env = { SCENEPRESS_SETUP_PYTHON: old };
  await refused(
    t,
    checkout.start([], { env }),
    /^SCENEPRESS_SETUP_PYTHON is \S+, which is not Python 3\.11 or newer\.$/m,
  );
});

t.test('without npm', async (t) => {
  const checkout = await SmallCheckout.make(t);
  mkdirSync(checkout.path('programs'));
  const env = { PATH: checkout.path('programs'), npm_execpath: '' };
  const { code, stderr } = await checkout.start([], { env }).ended;
  t.equal(code, 1);
  t.match(stderr, /^Installing npm packages: npm can't be started \(ENOENT\)/);
});
