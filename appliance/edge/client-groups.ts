import type { Socket } from 'node:net';

/** An open connection as a member of a client's group. */
export interface Member {
  readonly raw: Socket;
  readonly group: ClientGroup;
  /** Whether it has unanswered requests. */
  busy: boolean;
}

/** The connections of one client. */
export class ClientGroup {
  readonly name: string;
  size = 0;
  /** Connections without unanswered requests; the longest silent first. */
  readonly silent: Set<Member> = new Set();
  /** The connection with the oldest request first. */
  readonly busy: Set<Member> = new Set();

  constructor(name: string) {
    this.name = name;
  }
}

/** Maximum number of equally large groups that are searched for a silent connection. */
const MAX_GROUPS_SEARCHED = 32;

/** All connections by client; finds the client with the most connections in constant time. */
export class ClientGroups {
  readonly #byName = new Map<string, ClientGroup>();
  /** Groups by size. */
  readonly #bySize: (Set<ClientGroup> | undefined)[] = [];
  #largest = 0;

  /** The group of that name; a new group is stored when it gets a member. */
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
   * The connection to close for a newcomer when there are too many; undefined if there is none. It belongs to the
   * client with the most connections, unless that is the newcomer's own: the longest silent one, or, if that client
   * will still have more connections than the newcomer's, the busy one with the oldest request. Of the newcomer's own
   * client, only a silent connection is closed.
   */
  victimFor(newcomer: ClientGroup): Member | undefined {
    const largest = this.#bySize[this.#largest];
    if (largest && this.#largest > newcomer.size) {
      let searched = 0;
      for (const { silent } of largest) {
        const [longest] = silent;
        if (longest) return longest;
        searched += 1;
        if (searched === MAX_GROUPS_SEARCHED) break;
      }
      if (this.#largest > newcomer.size + 1) {
        const [group] = largest;
        const [oldest] = group?.busy ?? [];
        if (oldest) return oldest;
      }
    }
    const [longest] = newcomer.silent;
    return longest;
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
