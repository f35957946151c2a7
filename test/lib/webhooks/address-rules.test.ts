import t from 'tap';
import { AddressRules, assertNetworks } from '../../../lib/webhooks/address-rules.ts';

const REFUSED = [
  ...[
    '127.0.0.1',
    '127.255.255.254',
    '10.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
  ],
  ...[
    '0.0.0.0',
    '0.1.2.3',
    '100.64.0.1',
    '192.0.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
  ],
  ...['224.0.0.1', '239.1.1.1', '240.0.0.1', '255.255.255.255', '192.88.99.1'],
  ...['::', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::127.0.0.1', '::7f00:1'],
  ...['fe80::1', 'fe80::1%eth0', 'fec0::1', 'fc00::1', 'fd00:ec2::254', 'ff02::1', 'ff0e::1'],
  ...['64:ff9b::7f00:1', '64:ff9b:1::1', '2002:7f00:1::', '2001::1', '2001:db8::1', '2001:10::1', '3fff::1'],
  ...['100::1', '5f00::1', '4000::1', 'a000::1', 'localhost', '', '1.2.3.4.5'],
];
const PUBLIC = [
  '8.8.8.8',
  '1.1.1.1',
  '172.32.0.1',
  '192.167.1.1',
  '223.255.255.254',
  '2606:4700::1111',
  '2a00::1',
  '2001:200::1',
  '3fff:1000::1',
];

t.test('only public addresses may be called', async (t) => {
  const rules = new AddressRules();
  for (const address of REFUSED) t.type(rules.objection(address), 'string', address);
  for (const address of PUBLIC) t.equal(rules.objection(address), null, address);
});

t.test('an objection names the kind of address', async (t) => {
  const rules = new AddressRules(['10.0.0.0/8']);
  for (const [address, kind] of [
    ['localhost', 'malformed'],
    ['127.0.0.1', 'loopback'],
    ['192.168.0.1', 'private'],
    // Neighbours of these are public.
    ['2001:1ff:ffff::1', 'reserved'],
    ['3fff:fff:ffff::1', 'reserved'],
    ['4000::1', 'reserved'],
    ['::ffff:127.0.0.1', 'loopback'],
  ] as const) {
    t.equal(rules.objection(address), kind, address);
  }
});

t.test('rejects an invalid CIDR block and names it', async (t) => {
  assertNetworks(['10.0.0.0/8', 'fd00::/8']);
  for (const text of ['10.0.0.1', '10.0.0.0/33', 'x']) {
    const error = {
      code: 'invalid_request',
      message: `"${text}" is not a network such as 10.1.0.0/16 or fd00::/8.`,
      cause: Error,
    };
    t.throws(() => assertNetworks(['10.0.0.0/8', text]), error);
    t.throws(() => new AddressRules([text]), error);
  }
});

t.test('exactly the allowed networks may be called besides public addresses', async (t) => {
  const rules = new AddressRules(['10.1.0.0/16', '127.0.0.1/32', 'fd00:1::/32']);
  for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '127.0.0.1', 'fd00:1:2::3', '8.8.8.8']) {
    t.equal(rules.objection(address), null, address);
  }
  for (const address of ['10.2.0.1', '127.0.0.2', '::1', 'fd00:2::1', '169.254.169.254']) {
    t.type(rules.objection(address), 'string', address);
  }
});
