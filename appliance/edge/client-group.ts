import ipaddr from 'ipaddr.js';

/** The 16-bit words of an IPv6 address that name a network: 64 bits, the least that a customer is given. */
const NETWORK_WORDS = 4;

/**
 * What connections of one client have in common: its IPv4 address, or the /64 of its IPv6 address, of which a client
 * has as many addresses as it likes. An address in IPv6 notation that is an IPv4 one counts as that.
 */
export function clientGroupOf(remoteAddress: string | undefined): string {
  if (remoteAddress === undefined) return '';
  if (!remoteAddress.includes(':') || !ipaddr.isValid(remoteAddress)) return remoteAddress;
  const address = ipaddr.process(remoteAddress);
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  const words = address.parts.slice(0, NETWORK_WORDS);
  return `${words.map((word) => word.toString(16)).join(':')}::/64`;
}
