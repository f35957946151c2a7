import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';

/** Resolves a name to its distinct addresses; an empty list when it has none. Aborts with `signal`. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<string[]>;

/** Authoritative answers that there is no address. */
const NOTHING = new Set<string | undefined>(['ENODATA', 'ENOTFOUND']);

/**
 * Resolves a name by the hosts file, then by DNS, for IPv4 and IPv6 in parallel. `servers`: name servers, as
 * `address:port`; default: those of the system.
 *
 * Not `dns.lookup`, which blocks a thread of the pool that also flushes commits: a few unresponsive name servers
 * would stall the service.
 */
export function resolverOf({
  hostsFile = '/etc/hosts',
  servers,
}: {
  hostsFile?: string;
  servers?: string[];
} = {}): Resolve {
  return async (name, signal) => {
    const listed = listedAddresses(await readFile(hostsFile, 'utf8').catch(() => ''), name);
    if (listed.length > 0) return listed;
    // A new resolver reads the current name servers, and can be canceled without affecting other queries.
    const resolver = new Resolver({ timeout: 2_000, tries: 3 });
    if (servers) resolver.setServers(servers);
    const giveUp = () => resolver.cancel();
    signal.addEventListener('abort', giveUp);
    try {
      const lookups = [resolver.resolve4(name), resolver.resolve6(name)];
      return addressesIn(await Promise.allSettled(lookups.map((lookup) => lookup.catch(noneIfMissing))));
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  };
}

export const resolveName: Resolve = resolverOf();

function noneIfMissing(error: NodeJS.ErrnoException): string[] {
  if (NOTHING.has(error.code)) return [];
  throw error;
}

/** The addresses in all answers. Error: that of a lookup, when no other found an address. */
function addressesIn(answers: PromiseSettledResult<string[]>[]): string[] {
  const addresses = new Set(answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : [])));
  const failure = answers.find((answer) => answer.status === 'rejected');
  if (failure && addresses.size === 0) throw failure.reason;
  return [...addresses];
}

/** The addresses of a name in a hosts file. */
export function listedAddresses(hosts: string, name: string): string[] {
  const wanted = name.toLowerCase().replace(/\.$/, '');
  const addresses = hosts.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    return names.some((listed) => listed.toLowerCase() === wanted) ? [address] : [];
  });
  return [...new Set(addresses)];
}
