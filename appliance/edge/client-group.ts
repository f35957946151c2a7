import ipaddr from 'ipaddr.js';

/** Number of 16-bit words in a /64 network, the smallest that a customer is assigned. */
const NETWORK_WORDS = 4;

/**
 * Identifies a client by its IPv4 address or the /64 network of its IPv6 address, since a client can use any address
 * in its network. IPv4-mapped IPv6 addresses count as IPv4.
 */
export function clientGroupOf(remoteAddress: string | undefined): string {
  if (remoteAddress === undefined) return '';
  if (!remoteAddress.includes(':') || !ipaddr.isValid(remoteAddress)) return remoteAddress;
  const address = ipaddr.process(remoteAddress);
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  const words = address.parts.slice(0, NETWORK_WORDS);
  return `${words.map((word) => word.toString(16)).join(':')}::/64`;
}
