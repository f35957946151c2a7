import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { loadConfig, readSettings } from '../../appliance/config/config.ts';
import { OPTION_NAMES, OPTIONS, shownDefault, variableOf } from '../../appliance/config/options.ts';
import { DEFAULT_PRICING } from '../../lib/ledger/pricing.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

t.test('options have defaults', async (t) => {
  t.match(loadConfig({ flags: {}, env: {} }), {
    host: '127.0.0.1',
    port: 8080,
    dataDir: './data',
    trustProxy: false,
    creditsMode: 'metered',
    freeCredits: 1000,
    creditsPerSecond: DEFAULT_PRICING.creditsPerSecond,
    renderTimeoutSeconds: 600,
  });
});

t.test('flags override the environment, which overrides the file, which overrides defaults', async (t) => {
  const config = join(await temporaryFolder(t), 'scenepress.json');
  await writeFile(config, JSON.stringify({ port: 1, host: 'file', dataDir: 'file', freeCredits: 7 }));
  const env = {
    SCENEPRESS_CONFIG: config,
    SCENEPRESS_PORT: '2',
    SCENEPRESS_HOST: 'env',
    SCENEPRESS_WORKERS: '',
  };
  const loaded = loadConfig({ flags: { port: '3' }, env });
  t.match(loaded, { port: 3, host: 'env', dataDir: 'file', freeCredits: 7, drainSeconds: 30 });
  t.equal(loaded.workers, undefined, 'an empty variable counts as unset');
  t.equal(loadConfig({ flags: { config }, env: {} }).port, 1);
});

t.test('networks are a comma-separated list or a JSON array', async (t) => {
  const expected = ['10.1.0.0/16', 'fd00::/8'];
  const env = { SCENEPRESS_WEBHOOKS_ALLOW_NETWORKS: '10.1.0.0/16, fd00::/8' };
  t.same(loadConfig({ flags: {}, env }).webhooksAllowNetworks, expected);
  const config = join(await temporaryFolder(t), 'scenepress.json');
  await writeFile(config, JSON.stringify({ webhooksAllowNetworks: expected }));
  t.same(loadConfig({ flags: { config }, env: {} }).webhooksAllowNetworks, expected);
  t.same(loadConfig({ flags: {}, env: {} }).webhooksAllowNetworks, []);
});

t.test('values are converted to the type of their option', async (t) => {
  const { port, trustProxy, publicUrl, creditsPerSecond } = loadConfig({
    flags: {},
    env: {
      SCENEPRESS_PORT: '0',
      SCENEPRESS_TRUST_PROXY: 'true',
      SCENEPRESS_PUBLIC_URL: 'https://example.org/render/',
      SCENEPRESS_CREDITS_PER_SECOND: '1,2,3,4,0.5',
    },
  });
  t.strictSame(
    { port, trustProxy, publicUrl },
    { port: 0, trustProxy: true, publicUrl: 'https://example.org/render' },
  );
  t.strictSame(creditsPerSecond, { low: 1, medium: 2, high: 3, twok: 4, fourk: 0.5 });
});

t.test('an invalid value is rejected with the option’s name and the allowed values', async (t) => {
  const wrong: [string, string][] = [
    ['SCENEPRESS_PORT', 'eighty'],
    ['SCENEPRESS_PORT', '65536'],
    ['SCENEPRESS_PUBLIC_URL', 'example.org'],
    ['SCENEPRESS_TRUST_PROXY', 'perhaps'],
    ['SCENEPRESS_CREDITS_MODE', 'free'],
    ['SCENEPRESS_CREDITS_PER_SECOND', '1,2,3'],
    ['SCENEPRESS_CREDITS_PER_SECOND', '1,2,3,4,-5'],
    ['SCENEPRESS_WORKERS', '0'],
    ['SCENEPRESS_LOG_LEVEL', 'loud'],
  ];
  for (const [variable, value] of wrong) {
    const message = new RegExp(`^${variable} must be .+, not "${value}"\\.$`);
    t.throws(() => loadConfig({ flags: {}, env: { [variable]: value } }), { message, exitCode: 2 }, value);
  }
  t.throws(() => loadConfig({ flags: { dataDir: '', port: 'x' }, env: {} }), { message: /^--\w/ });
});

t.test('an invalid secret is not printed', async (t) => {
  const message = 'SCENEPRESS_MASTER_KEY must be 64 hexadecimal digits.';
  t.throws(() => loadConfig({ flags: {}, env: { SCENEPRESS_MASTER_KEY: 'hunter2' } }), { message });
});

t.test('an invalid configuration file is rejected', async (t) => {
  const config = join(await temporaryFolder(t), 'scenepress.json');
  const load = () => loadConfig({ flags: { config }, env: {} });
  t.throws(load, { message: /can't be read/ }, 'missing');
  await writeFile(config, '{');
  t.throws(load, { message: /it is not JSON/ });
  await writeFile(config, '[]');
  t.throws(load, { message: /must contain a JSON object/ });
  await writeFile(config, '{"prot":80}');
  t.throws(load, { message: /"prot" in .* is not an option\. Options are: host, port/ });
  await writeFile(config, '{"port":"x"}');
  t.throws(load, { message: /"port" in .* must be a whole number/ });
});

t.test('every option has its own environment variable', async (t) => {
  const variables = Object.keys(OPTIONS).map(variableOf);
  t.equal(new Set(variables).size, variables.length);
  t.ok(variables.every((variable) => /^SCENEPRESS_[A-Z][A-Z0-9_]+$/.test(variable)));
});

t.test('a default is a value of its option, as which it is shown', async (t) => {
  for (const name of OPTION_NAMES) {
    const { default: value } = OPTIONS[name];
    const shown = shownDefault(OPTIONS[name]);
    if (value === undefined || shown === 'none') continue;
    const settings = readSettings({ flags: { [name]: shown }, env: {} });
    t.strictSame(
      settings.find((setting) => setting.name === name),
      { name, value, source: 'flag', problem: null },
    );
  }
});
