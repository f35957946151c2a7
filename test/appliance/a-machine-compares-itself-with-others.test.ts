import t from 'tap';
import { type Config, loadConfig } from '../../appliance/config/config.ts';
import { ClockWatch } from '../../appliance/doctor/machine.ts';
import { Comparison } from '../../appliance/machines/comparison.ts';
import { settingsOf } from '../../appliance/machines/settings.ts';
import type { Logger } from '../../appliance/support/log.ts';
import { disagreementsOf } from '../../lib/cluster/disagreements.ts';
import type { MachineOrders } from '../../lib/cluster/machine-store.ts';

const AGREED: MachineOrders = { mustDrain: false, clockAheadMs: 40, disagreements: [] };

function newComparison() {
  const logged: string[] = [];
  const log = (_details: object, message: string) => void logged.push(message);
  return { comparison: new Comparison({ info: log, warn: log, error: log } as unknown as Logger), logged };
}

function configOf(flags: Record<string, unknown>): Config {
  return loadConfig({ flags: { databaseUrl: 'postgres://db/studio', ...flags }, env: {} });
}

t.test('a process that has not been compared does not work', async (t) => {
  const { comparison, logged } = newComparison();
  t.match(comparison.heldBack, /^The settings of this process have not been compared/);
  comparison.note(AGREED);
  t.equal(comparison.heldBack, undefined);
  t.same(comparison.warnings, []);
  t.same(logged, []);
});

t.test('a disagreement is named with both values, and logged once', async (t) => {
  const { comparison, logged } = newComparison();
  const disagreements = [
    { name: 'reserveSeconds', own: '10', others: '5', machines: ['front'] },
    { name: 'webhooksAllowNetworks', own: '10.1.0.0/16', others: 'not set', machines: ['front'] },
  ];
  comparison.note({ ...AGREED, disagreements });
  comparison.note({ ...AGREED, disagreements });
  const { heldBack = '' } = comparison;
  t.match(heldBack, /--reserve-seconds is 10 here, but 5 on the machines that work/);
  t.match(heldBack, /restart the others with the new value/);
  t.match(heldBack, /--webhooks-allow-networks differs/);
  t.notMatch(heldBack, /10\.1\.0\.0|front/, 'health is public');
  t.same(logged, [heldBack]);
  comparison.note(AGREED);
  t.equal(comparison.heldBack, undefined);
  t.match(logged[1], /this process continues/);
  t.equal(logged.length, 2);
});

t.test('a wrong clock is a warning, and logged once', async (t) => {
  const { comparison, logged } = newComparison();
  comparison.note(AGREED);
  comparison.note({ ...AGREED, clockAheadMs: 5_000 });
  t.same(comparison.warnings, []);
  for (const clockAheadMs of [612_000, 613_000]) comparison.note({ ...AGREED, clockAheadMs });
  t.match(comparison.warnings, [/^The clock of this machine is 613 s ahead of that of the database, .*NTP/]);
  comparison.note({ ...AGREED, clockAheadMs: -7_400 });
  t.match(comparison.warnings, [/is 7 s behind that of the database/]);
  t.equal(logged.length, 1);
  comparison.note(AGREED);
  t.same(comparison.warnings, []);
  t.match(logged, [/612 s ahead/, /The clock of this machine is right again/]);
});

t.test('a worker needs the prices and links of a server, and nothing that only servers use', async (t) => {
  const shared = { publicUrl: 'https://render.example.org', webhooksAllowNetworks: '10.1.0.0/16' };
  const server = settingsOf(configOf({ ...shared, roles: 'api,sender,upkeep' }));
  const against = (flags: Record<string, unknown>) =>
    disagreementsOf(settingsOf(configOf({ roles: 'worker', ...flags })), [
      { name: 'front', settings: server },
    ]);
  t.same(against({ assetUrl: 'https://render.example.org/' }), []);
  t.match(against({ publicUrl: 'https://other.example.org' }), [{ name: 'assetUrl' }]);
  const others: [string, unknown][] = [
    ['creditsMode', 'unmetered'],
    ['freeCredits', 5],
    ['creditsPerSecond', '1,2,3,4,5'],
    ['reserveSeconds', 7],
    ['s3Prefix', 'other/'],
  ];
  for (const [name, value] of others) {
    const s3 = name === 's3Prefix' ? { s3Bucket: 'renders', s3Region: 'eu-central-1' } : {};
    const names = against({ ...shared, ...s3, [name]: value }).map((disagreement) => disagreement.name);
    t.ok(names.includes(name), name);
  }
});

t.test('the doctor finds a clock that differs from that of the database', async (t) => {
  const clock = new ClockWatch();
  t.match(clock.finding(null, -612_000), {
    check: 'Clock',
    status: 'failed',
    message: /, 612 s behind that of the database/,
  });
  for (const aheadMs of [null, 0, 5_000]) t.match(clock.finding(null, aheadMs), { status: 'ok' });
});
