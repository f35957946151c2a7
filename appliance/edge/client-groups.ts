import type { Socket } from 'node:net';
import { type Linked, Recency } from './recency.ts';

/** An open connection, as the choice between connections sees it. */
export interface Member extends Linked<Member> {
  readonly raw: Socket;
  readonly group: ClientGroup;
  /** Whether requests of it are being answered. */
  busy: boolean;
}

/** The connections of one client. */
export class ClientGroup {
  readonly name: string;
  size = 0;
  /** Those that no request came from yet, or whose requests are answered; the one that has been so longest first. */
  readonly silent: Recency<Member> = new Recency<Member>();
  readonly busy: Recency<Member> = new Recency<Member>();

  constructor(name: string) {
    this.name = name;
  }
}

/** Of clients with equally many connections, this many are looked at for a silent one. */
const MOST_LOOKED_AT = 32;

/** All connections by client, so that the client with the most is found at once. */
export class ClientGroups {
  readonly #byName = new Map<string, ClientGroup>();
  /** By their size. */
  readonly #bySize: (Set<ClientGroup> | undefined)[] = [];
  #largest = 0;

  /** The group of that name; a new one is kept once it has a member. */
  get(name: string): ClientGroup {
    return this.#byName.get(name) ?? new ClientGroup(name);
  }

  add(member: Member): void {
    member.group.silent.add(member);
    this.#resize(member.group, 1);
  }

  delete(member: Member): void {
    const { group, busy } = member;
    (busy ? group.busy : group.silent).delete(member);
    this.#resize(group, -1);
  }

  setBusy(member: Member, busy: boolean): void {
    const { group } = member;
    (member.busy ? group.busy : group.silent).delete(member);
    member.busy = busy;
    (busy ? group.busy : group.silent).add(member);
  }

  /**
   * The connection that a newcomer takes the place of when there are too many: of the client with the most, unless
   * that is the newcomer's own; the one that has been silent longest, else, of a client that stays ahead of the
   * newcomer's, the one whose request is oldest. Of its own client only a silent one. Undefined when there is none.
   */
  victimFor(newcomer: ClientGroup): Member | undefined {
    const largest = this.#bySize[this.#largest];
    if (largest && this.#largest > newcomer.size) {
      let looked = 0;
      for (const { silent } of largest) {
        if (silent.first) return silent.first;
        looked += 1;
        if (looked === MOST_LOOKED_AT) break;
      }
      if (this.#largest > newcomer.size + 1) {
        const [group] = largest;
        if (group?.busy.first) return group.busy.first;
      }
    }
    return newcomer.silent.first;
  }

  #resize(group: ClientGroup, change: 1 | -1): void {
    this.#bySize[group.size]?.delete(group);
    group.size += change;
    if (group.size > 0) {
      const equals = this.#bySize[group.size] ?? new Set();
      this.#bySize[group.size] = equals.add(group);
      this.#byName.set(group.name, group);
    } else {
      this.#byName.delete(group.name);
    }
    if (group.size > this.#largest) this.#largest = group.size;
    while (this.#largest > 0 && !this.#bySize[this.#largest]?.size) this.#largest -= 1;
  }
}
