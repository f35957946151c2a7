import ipaddr from 'ipaddr.js';

/**
 * The networks that a client may have to itself, the smallest first: an IPv6 client is assigned a /64, /56 or /48, and
 * can use any address in it. Of IPv4 only the address; IPv4-mapped IPv6 addresses count as IPv4.
 */
export function clientNetworksOf(remoteAddress: string | undefined): [string, ...string[]] {
  if (remoteAddress === undefined) return [''];
  if (!remoteAddress.includes(':') || !ipaddr.isValid(remoteAddress)) return [remoteAddress];
  const address = ipaddr.process(remoteAddress);
  if (!(address instanceof ipaddr.IPv6)) return [address.toString()];
  const [one = 0, two = 0, three = 0, four = 0] = address.parts;
  return [
    networkName([one, two, three, four], 64),
    networkName([one, two, three, four & 0xff00], 56),
    networkName([one, two, three], 48),
  ];
}

/** Identifies a client by the smallest of its networks. */
export function clientGroupOf(remoteAddress: string | undefined): string {
  return clientNetworksOf(remoteAddress)[0];
}

function networkName(words: number[], bits: number): string {
  return `${words.map((word) => word.toString(16)).join(':')}::/${bits}`;
}
