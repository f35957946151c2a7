import ipaddr from 'ipaddr.js';
import { ScenepressError } from '../base/errors.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [Address, number];

/** All public IPv6 addresses are in this block. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');

/**
 * The addresses that webhooks may connect to: public ones, and networks that the operator allows. Prevents
 * server-side request forgery, because webhook URLs come from clients.
 */
export class AddressRules {
  readonly #allowed: Network[];

  /** `allowNetworks`: CIDR blocks, such as `10.1.0.0/16` or `fd00::/8`. */
  constructor(allowNetworks: readonly string[] = []) {
    this.#allowed = allowNetworks.map(parseNetwork);
  }

  /** Null when the address is allowed, else its kind. */
  objection(text: string): string | null {
    if (!ipaddr.isValid(text)) return 'malformed';
    // Unmaps IPv4-mapped addresses: the kernel treats ::ffff:127.0.0.1 as 127.0.0.1.
    const address: Address = ipaddr.process(text);
    if (this.#allowed.some((network) => contains(network, address))) return null;
    const range = address.range();
    if (range !== 'unicast') return range;
    return address.kind() === 'ipv4' || contains(GLOBAL_UNICAST, address) ? null : 'reserved';
  }
}

/** Error: `invalid_request` for an invalid CIDR block. */
function parseNetwork(text: string): Network {
  try {
    return ipaddr.parseCIDR(text);
  } catch (cause) {
    throw new ScenepressError(
      'invalid_request',
      `"${text}" is not a network such as 10.1.0.0/16 or fd00::/8.`,
      {
        cause,
      },
    );
  }
}

function contains([network, bits]: Network, address: Address): boolean {
  if (network.kind() !== address.kind()) return false;
  return (address as ipaddr.IPv6).match(network as ipaddr.IPv6, bits);
}

/**
 * Error: `invalid_request`, naming the first invalid CIDR block.
 *
 * ```ts
 * assertNetworks(['10.0.0.0/8', 'fd00::/8']);
 * assertNetworks(['10.0.0.0/33']); // throws
 * ```
 */
export function assertNetworks(networks: readonly string[]): void {
  networks.forEach(parseNetwork);
}
