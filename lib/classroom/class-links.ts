import Joi from 'joi';
import type { Account } from '../accounts/account-store.ts';
import { type Accounts, newAccountId } from '../accounts/accounts.ts';
import { COUNT, checked, type Schemas, TEXT } from '../base/checked.ts';
import { isScenepressError, ScenepressError } from '../base/errors.ts';
import type { Random } from '../base/random.ts';
import { isStorableText } from '../base/storable-text.ts';
import type { StoredLedger } from '../ledger/stored-ledger.ts';
import {
  type ClassLink,
  type ClassLinkRecord,
  type ClassSeat,
  type ClassSeatRecord,
  classLinkOf,
  MOST_CREDITS_OF_SEAT,
  MOST_SEATS,
} from '../model/class-link.ts';
import { SortableIds } from '../model/ids.ts';
import { endOfLink, expiryOf, newToken, noLongerValid, tokenHashOf } from '../model/link.ts';
import { newOwner } from '../model/owner.ts';
import { validName } from '../scenes/valid-scene.ts';
import type { Storage } from '../storage/storage.ts';
import type { Transaction } from '../storage/transaction.ts';
import { type Clock, isoTime } from '../time/clock.ts';

const DEFAULT_LIMIT = 100;
/** Making an account takes seconds; longer, its process was killed. */
const JOINING_MS = 10 * 60_000;
const FORGET_PAGE = 100;

/** A class link to make. */
export interface NewClassLink {
  /** The account that it is for, such as a teacher's. */
  owner: string;
  /** The class, for people: at most 200 characters in one line. */
  name: string;
  /** How many accounts can join, at most 500. */
  seats: number;
  /** Credits that each account gets. Default 0. */
  creditsPerSeat?: number;
  /** When the link stops working: ISO 8601, with a time zone. Default: never. */
  expiresAt?: string | null;
}

/** Restricts a call to one owner's class links; others are reported as `not_found`. */
export interface ClassLinkScope {
  owner?: string;
}

/** Which class links to list. */
export interface ClassLinkQuery extends ClassLinkScope {
  /** Only those before this one: the last of the page before. */
  before?: string;
  /** Default 100. */
  limit?: number;
}

/** Who joins: the address and the password with which the account signs in. */
export interface Joining {
  email: string;
  password: string;
}

/** What class links need of an installation. */
export interface ClassLinksParts {
  storage: Pick<Storage, 'classLinks' | 'transaction' | 'purge'>;
  accounts: Accounts;
  /** Gives the credits; undefined: renders are free, and seats have none. */
  ledger: Pick<StoredLedger, 'grantPaid'> | undefined;
  clock: Clock;
  /** The source of ids and tokens. */
  random: Random;
}

const CREATE = Joi.object<NewClassLink>({
  owner: TEXT.required(),
  name: Joi.any(),
  seats: COUNT.max(MOST_SEATS).required(),
  creditsPerSeat: Joi.number().integer().min(0).max(MOST_CREDITS_OF_SEAT),
  expiresAt: Joi.string().isoDate().allow(null),
} satisfies Schemas<NewClassLink>);
const SCOPE = Joi.object<ClassLinkScope>({ owner: TEXT });
const QUERY = Joi.object<ClassLinkQuery>({
  owner: TEXT,
  before: TEXT,
  limit: COUNT,
} satisfies Schemas<ClassLinkQuery>);

/**
 * Links under which people make accounts of their own, as many as a link has seats.
 *
 * A seat is taken before the account is made, and confirmed when the account has its credits. What a killed process left between is
 * completed, or the seat freed, when somebody joins or the link is shown later.
 */
export class ClassLinks {
  readonly #storage: ClassLinksParts['storage'];
  readonly #accounts: Accounts;
  readonly #ledger: ClassLinksParts['ledger'];
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #ids: SortableIds;

  constructor({ storage, accounts, ledger, clock, random }: ClassLinksParts) {
    this.#storage = storage;
    this.#accounts = accounts;
    this.#ledger = ledger;
    this.#clock = clock;
    this.#random = random;
    this.#ids = new SortableIds(clock, random);
  }

  /** Makes a class link. Error: `invalid_request`, also for credits where renders are free. */
  async create(given: NewClassLink): Promise<ClassLink> {
    const { owner, name, seats, creditsPerSeat = 0, expiresAt } = checked('classLinks.create', given, CREATE);
    newOwner(owner);
    if (creditsPerSeat > 0 && !this.#ledger)
      throw new ScenepressError('invalid_request', 'Renders are free here, so seats have no credits.');
    const nowMs = this.#clock.now();
    const link: ClassLinkRecord = {
      classLinkId: `c${this.#ids.next()}`,
      ...{ owner, name: validName(name), seats, creditsPerSeat, ...newToken(this.#random) },
      createdAtMs: nowMs,
      expiresAtMs: expiryOf(expiresAt, nowMs),
      revokedAtMs: null,
    };
    await this.#storage.transaction((tx) => this.#storage.classLinks.insert(tx, link));
    return classLinkOf(link, { taken: 0, nowMs });
  }

  /** Error: `not_found` when there is no such class link, or it is for another owner. */
  async get(classLinkId: string, scope: ClassLinkScope = {}): Promise<ClassLink> {
    return this.#shown(await this.#found(classLinkId, scope));
  }

  /** Class links, newest first. */
  async list(query: ClassLinkQuery = {}): Promise<ClassLink[]> {
    const { limit = DEFAULT_LIMIT, ...page } = checked('classLinks.list', query, QUERY);
    const found = await this.#storage.classLinks.list({ ...page, limit });
    return Promise.all(found.map((link) => this.#shown(link)));
  }

  /** The accounts that have joined, the first ones first. Errors: those of {@link ClassLinks.get}. */
  async seats(classLinkId: string, scope: ClassLinkScope = {}): Promise<ClassSeat[]> {
    const link = await this.#found(classLinkId, scope);
    await this.#completeLeft(link);
    const seats = await this.#storage.classLinks.seats(classLinkId);
    return seats.flatMap(({ accountId, joinedAtMs }) =>
      joinedAtMs === null ? [] : [{ accountId, joinedAt: isoTime(joinedAtMs) }],
    );
  }

  /** Ends a link at once, for good: no more people join, and accounts that have stay. Errors: those of {@link ClassLinks.get}. */
  async revoke(classLinkId: string, scope: ClassLinkScope = {}): Promise<ClassLink> {
    await this.#found(classLinkId, scope);
    const revoked = await this.#locked(classLinkId, async (tx, link) => {
      const changed = { ...link, revokedAtMs: link.revokedAtMs ?? this.#clock.now() };
      await this.#storage.classLinks.revoke(tx, changed);
      return changed;
    });
    return this.#shown(revoked);
  }

  /** Removes a class link with the list of its seats; accounts stay. Errors: those of {@link ClassLinks.get}. */
  async remove(classLinkId: string, scope: ClassLinkScope = {}): Promise<void> {
    await this.#found(classLinkId, scope);
    await this.#storage.transaction((tx) => this.#storage.classLinks.delete(tx, classLinkId));
    await this.#storage.purge();
  }

  /** Removes all class links of an owner. */
  async forget(owner: string): Promise<void> {
    const { classLinks } = this.#storage;
    for (;;) {
      const page = await classLinks.list({ owner, limit: FORGET_PAGE });
      if (page.length === 0) return;
      for (const { classLinkId } of page)
        await this.#storage.transaction((tx) => classLinks.delete(tx, classLinkId));
    }
  }

  /**
   * The class link of a token. Error: `not_found`, whether it has never been one, has expired, was revoked, or its owner is refused: a
   * link tells no more.
   */
  async find(token: string): Promise<ClassLink> {
    // Only its hash is compared, by the index.
    const hash = tokenHashOf(token);
    const link = hash === undefined ? undefined : await this.#storage.classLinks.withToken(hash);
    if (!link || endOfLink(link, this.#clock.now())) throw noLongerValid();
    if (!(await this.#accounts.isEnabled(link.owner))) throw noLongerValid();
    return this.#shown(link);
  }

  /**
   * Makes an account, which takes a seat and gets the credits of one. Errors: those of {@link ClassLinks.find}; `invalid_request` for
   * the address or the password; `conflict` when all seats are taken, or the address has an account.
   */
  async join(
    token: string,
    { email, password }: Joining,
  ): Promise<{ account: Account; classLinkId: string }> {
    const { classLinkId } = await this.find(token);
    await this.#completeLeft(await this.#found(classLinkId, {}));
    const accountId = newAccountId(this.#random);
    await this.#take({ classLinkId, accountId, takenAtMs: this.#clock.now(), joinedAtMs: null });
    let account: Account;
    try {
      account = await this.#accounts.create(email, { accountId, password });
    } catch (error) {
      // What else failed may have made the account: the next one who joins sees.
      if (isScenepressError(error, 'invalid_request', 'conflict'))
        await this.#locked(classLinkId, (tx) =>
          this.#storage.classLinks.dropSeat(tx, { classLinkId, accountId }),
        );
      throw error;
    }
    await this.#confirm(classLinkId, accountId);
    return { account, classLinkId };
  }

  /** Takes a seat. The row of the link is locked, so that two people can't take the last one. */
  async #take(seat: ClassSeatRecord): Promise<void> {
    const { classLinks } = this.#storage;
    await this.#locked(seat.classLinkId, async (tx, link) => {
      if (endOfLink(link, this.#clock.now())) throw noLongerValid();
      if ((await classLinks.countSeats(seat.classLinkId, tx)) >= link.seats) throw full();
      await classLinks.putSeat(tx, seat);
    });
  }

  /** Gives the account of a seat its credits, once, and confirms the seat. */
  async #confirm(classLinkId: string, accountId: string): Promise<void> {
    const { classLinks } = this.#storage;
    const { creditsPerSeat = 0 } = (await classLinks.get(classLinkId)) ?? {};
    if (creditsPerSeat > 0)
      await this.#ledger?.grantPaid(accountId, creditsPerSeat, {
        note: 'Joined a class',
        idempotencyKey: `class link ${classLinkId}`,
      });
    const nowMs = this.#clock.now();
    await this.#storage.transaction(async (tx) => {
      // If the link was removed meanwhile, the account stays.
      if (!(await classLinks.get(classLinkId, tx))) return;
      await classLinks.putSeat(tx, { classLinkId, accountId, takenAtMs: nowMs, joinedAtMs: nowMs });
    });
  }

  /** Completes, or frees, the seats of processes that were killed while somebody joined. */
  async #completeLeft({ classLinkId }: ClassLinkRecord): Promise<void> {
    const { classLinks } = this.#storage;
    const leftBeforeMs = this.#clock.now() - JOINING_MS;
    for (const { accountId, takenAtMs, joinedAtMs } of await classLinks.seats(classLinkId)) {
      if (joinedAtMs !== null || takenAtMs > leftBeforeMs) continue;
      if (await this.#exists(accountId)) await this.#confirm(classLinkId, accountId);
      else await this.#locked(classLinkId, (tx) => classLinks.dropSeat(tx, { classLinkId, accountId }));
    }
  }

  async #exists(accountId: string): Promise<boolean> {
    try {
      await this.#accounts.find(accountId, { deleted: true });
      return true;
    } catch (error) {
      if (!isScenepressError(error, 'not_found')) throw error;
      return false;
    }
  }

  /** Runs `work` in a transaction that has locked the class link. */
  #locked<Result>(
    classLinkId: string,
    work: (tx: Transaction, link: ClassLinkRecord) => Promise<Result>,
  ): Promise<Result> {
    return this.#storage.transaction(async (tx) => {
      const link = await this.#storage.classLinks.get(classLinkId, tx);
      if (!link) throw noClassLink();
      return work(tx, link);
    });
  }

  async #found(classLinkId: string, scope: ClassLinkScope): Promise<ClassLinkRecord> {
    const { owner } = checked('A call for a class link', scope, SCOPE);
    const { classLinks } = this.#storage;
    const link = isStorableText(classLinkId) ? await classLinks.get(classLinkId) : undefined;
    if (link && (owner === undefined || owner === link.owner)) return link;
    throw noClassLink();
  }

  async #shown(link: ClassLinkRecord): Promise<ClassLink> {
    const taken = await this.#storage.classLinks.countSeats(link.classLinkId);
    return classLinkOf(link, { taken, nowMs: this.#clock.now() });
  }
}

function noClassLink(): ScenepressError {
  return new ScenepressError('not_found', 'There is no such class link, or it has been removed.');
}

function full(): ScenepressError {
  return new ScenepressError('conflict', 'All seats of this class are taken. Ask for another link.');
}
