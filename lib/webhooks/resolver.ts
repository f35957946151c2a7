import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';

/** The addresses of a name, each once; none when it has none. Gives up when `signal` aborts. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<string[]>;

const HOSTS_FILE = '/etc/hosts';
/** An answer that says for sure that there is nothing. */
const NOTHING = new Set(['ENODATA', 'ENOTFOUND']);

/**
 * Looks a name up in the hosts file, then asks the name servers, for IPv4 and IPv6 at once.
 *
 * Not `dns.lookup`: that occupies one of the four threads which also flush commits, so a few name servers that
 * don't answer would hold up everything.
 */
export const resolveName: Resolve = async (name, signal) => {
  const listed = listedAddresses(await readFile(HOSTS_FILE, 'utf8').catch(() => ''), name);
  if (listed.length > 0) return listed;
  // A resolver of its own reads the name servers again, and its queries can be given up without ending others'.
  const resolver = new Resolver({ timeout: 2_000, tries: 3 });
  const giveUp = () => resolver.cancel();
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const failure = answers.find(
      (answer) => answer.status === 'rejected' && !NOTHING.has(answer.reason.code),
    );
    if (addresses.length === 0 && failure) throw (failure as PromiseRejectedResult).reason;
    return [...new Set(addresses)];
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
};

/** What a hosts file says of a name: lines of an address and its names. */
export function listedAddresses(hosts: string, name: string): string[] {
  const wanted = name.toLowerCase().replace(/\.$/, '');
  const addresses = hosts.split('\n').flatMap((line) => {
    const [address, ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    return address && names.some((listed) => listed.toLowerCase() === wanted) ? [address] : [];
  });
  return [...new Set(addresses)];
}
