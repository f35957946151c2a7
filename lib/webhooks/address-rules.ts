import ipaddr from 'ipaddr.js';
import { ScenepressError } from '../errors.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [Address, number];

/** IPv6 hands out public addresses from here only. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');

/**
 * What must never be dialled though the library calls it `unicast`: names of networks that reach into a private one
 * by translation, and what was set aside after its table was made.
 */
const ALSO_REFUSED: Network[] = ['2001::/23', '3fff::/20'].map(ipaddr.parseCIDR);

/**
 * Which addresses webhooks may go to: public ones, and those that the operator has opened. A webhook URL comes from
 * a client, and the service stands where the client doesn't: it must not be made to knock on doors in there.
 */
export class AddressRules {
  readonly #allowed: Network[];

  /** `allowNetworks`: CIDRs, as `10.1.0.0/16` or `fd00::/8`. */
  constructor(allowNetworks: readonly string[] = []) {
    this.#allowed = allowNetworks.map(parseNetwork);
  }

  /** Null when it may be dialled, else what kind of address it is. */
  objection(text: string): string | null {
    if (!ipaddr.isValid(text)) return 'malformed';
    // ::ffff:127.0.0.1 is 127.0.0.1 to the kernel, and so to these rules.
    const address: Address = ipaddr.process(text);
    if (this.#allowed.some((network) => contains(network, address))) return null;
    if (address.kind() === 'ipv6' && ALSO_REFUSED.some((network) => contains(network, address)))
      return 'reserved';
    const range = address.range();
    if (range !== 'unicast') return range;
    return address.kind() === 'ipv4' || contains(GLOBAL_UNICAST, address) ? null : 'reserved';
  }
}

/** `invalid_request` when it is no CIDR. */
function parseNetwork(text: string): Network {
  try {
    return ipaddr.parseCIDR(text);
  } catch (cause) {
    throw new ScenepressError('invalid_request', `"${text}" is no network, as 10.1.0.0/16 or fd00::/8 are.`, {
      cause,
    });
  }
}

function contains([network, bits]: Network, address: Address): boolean {
  if (network.kind() !== address.kind()) return false;
  return (address as ipaddr.IPv6).match(network as ipaddr.IPv6, bits);
}

/** Throws `invalid_request`, naming the first that is no CIDR. */
export function assertNetworks(networks: readonly string[]): void {
  networks.forEach(parseNetwork);
}
