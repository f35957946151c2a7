import type { DueLanes, HostPace } from './delivery-store.ts';
import { type Link, LinkedList } from './linked-list.ts';
import { Moments } from './moments.ts';

const PACES: readonly HostPace[] = ['quick', 'new', 'slow'];

interface Due {
  owner: string;
  host: string;
  dueAtMs: number | null;
}

/** Ids of one owner that are due to one host, the longest due first. Never empty. */
interface Line {
  owner: OwnerLines;
  host: string;
  ids: LinkedList<string>;
  pace: HostPace;
  /** Its place among the owner's lines of that pace. */
  link: Link<Line>;
}

/** The lines of one owner. Never empty. */
interface OwnerLines {
  name: string;
  byHost: Map<string, Line>;
  /** The next to be served first. */
  byPace: Record<HostPace, LinkedList<Line>>;
  /** Which of {@link PACES} is served next: else many to quick hosts would keep out those to new ones. */
  turn: number;
  link: Link<OwnerLines>;
}

/**
 * Who is due when: moments to come, and lines of those whose moment has come, by owner and host. Both may hold moments
 * that have changed since; `dueOf` tells.
 *
 * Lines are kept apart by the pace of their hosts, so that a sender which may call no more slow or new hosts of an
 * owner passes over all of their lines at once. What {@link take} costs grows with what is under way and what it
 * takes, not with what is due.
 */
export class DueQueue {
  readonly #dueOf: (id: string) => Due | undefined;
  readonly #moments = new Moments();
  readonly #byName = new Map<string, OwnerLines>();
  /** The next to be served first. */
  readonly #owners = new LinkedList<OwnerLines>();
  readonly #places = new Map<string, { line: Line; link: Link<string> }>();
  /** Made since the last {@link take}; the pace of their hosts is not known yet. */
  #unfiled: Line[] = [];

  constructor(dueOf: (id: string) => Due | undefined) {
    this.#dueOf = dueOf;
  }

  set(id: string, dueAtMs: number | null): void {
    this.#leaveLine(id);
    if (dueAtMs !== null) this.#moments.push({ atMs: dueAtMs, id });
  }

  /** Ids that are due, at most `limit`, in no order that means something; the longest due of a host first. */
  all({ dueByMs, limit }: { dueByMs: number; limit: number }): string[] {
    this.#ripen(dueByMs);
    const found: string[] = [];
    for (const { byHost } of this.#owners) {
      for (const { ids } of byHost.values()) {
        for (const id of ids) {
          if (found.length >= limit) return found;
          found.push(id);
        }
      }
    }
    return found;
  }

  /** Ids that are due and got a place in a lane: owners in turns, and of each owner the hosts in turns. */
  take({ dueByMs, limit, lanes }: { dueByMs: number; limit: number; lanes: DueLanes }): string[] {
    this.#ripen(dueByMs);
    const changed = [...lanes.changed()].map(({ owner, host }) => this.#byName.get(owner)?.byHost.get(host));
    for (const line of [...this.#unfiled, ...changed]) {
      if (line && line.ids.size > 0) this.#file(line, lanes.paceOf(line.owner.name, line.host));
    }
    this.#unfiled = [];
    const taken: string[] = [];
    const serve = (owner: OwnerLines): boolean => {
      if (taken.length >= limit) return false;
      const id = this.#takeOne(owner, lanes);
      if (id !== undefined) taken.push(id);
      return id !== undefined;
    };
    let served: OwnerLines[] = [];
    for (let left = this.#owners.size; left > 0 && taken.length < limit; left -= 1) {
      const { value: owner } = this.#owners.first as Link<OwnerLines>;
      this.#owners.moveToEnd(owner.link);
      if (serve(owner)) served.push(owner);
    }
    while (served.length > 0 && taken.length < limit) served = served.filter(serve);
    // If they are not begun, they are due still.
    for (const id of taken) this.#moments.push({ atMs: this.#dueOf(id)?.dueAtMs ?? dueByMs, id });
    return taken;
  }

  /** One id that gets a place; out of its line. */
  #takeOne(owner: OwnerLines, lanes: DueLanes): string | undefined {
    for (let i = 0; i < PACES.length; i += 1) {
      const turn = (owner.turn + i) % PACES.length;
      const pace = PACES[turn] as HostPace;
      if (!lanes.mayCall(owner.name, pace)) continue;
      const lines = owner.byPace[pace];
      for (let left = lines.size; left > 0; left -= 1) {
        const { value: line } = lines.first as Link<Line>;
        const now = lanes.paceOf(owner.name, line.host);
        this.#file(line, now);
        if (now !== pace) continue;
        const { value: id } = line.ids.first as Link<string>;
        if (!lanes.enter({ deliveryId: id, owner: owner.name, host: line.host })) continue;
        this.#leaveLine(id);
        owner.turn = turn + 1;
        return id;
      }
    }
    return undefined;
  }

  /** Puts a line at the end of those of a pace. */
  #file(line: Line, pace: HostPace): void {
    const { byPace } = line.owner;
    byPace[line.pace].remove(line.link);
    line.pace = pace;
    line.link = byPace[pace].push(line);
  }

  #leaveLine(id: string): void {
    const place = this.#places.get(id);
    if (!place) return;
    this.#places.delete(id);
    const { line, link } = place;
    line.ids.remove(link);
    if (line.ids.size > 0) return;
    const { owner } = line;
    owner.byPace[line.pace].remove(line.link);
    owner.byHost.delete(line.host);
    if (owner.byHost.size > 0) return;
    this.#owners.remove(owner.link);
    this.#byName.delete(owner.name);
  }

  /** Puts those whose moment has come into line. */
  #ripen(dueByMs: number): void {
    for (let first = this.#moments.first; first && first.atMs <= dueByMs; first = this.#moments.first) {
      this.#moments.pop();
      const { id } = first;
      const now = this.#dueOf(id);
      if (now?.dueAtMs !== first.atMs || this.#places.has(id)) continue;
      const line = this.#lineOf(now);
      this.#places.set(id, { line, link: line.ids.push(id) });
    }
  }

  #lineOf({ owner: name, host }: Due): Line {
    let owner = this.#byName.get(name);
    if (!owner) {
      const byPace = {
        quick: new LinkedList<Line>(),
        new: new LinkedList<Line>(),
        slow: new LinkedList<Line>(),
      };
      const made = { name, byHost: new Map<string, Line>(), byPace, turn: 0 } as Omit<
        OwnerLines,
        'link'
      > as OwnerLines;
      made.link = this.#owners.push(made);
      this.#byName.set(name, made);
      owner = made;
    }
    const existing = owner.byHost.get(host);
    if (existing) return existing;
    const line = { owner, host, ids: new LinkedList<string>(), pace: 'new' } as Omit<Line, 'link'> as Line;
    line.link = owner.byPace.new.push(line);
    owner.byHost.set(host, line);
    this.#unfiled.push(line);
    return line;
  }
}
