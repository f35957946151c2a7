import Joi from 'joi';
import { checked, type Schemas, TEXT } from '../base/checked.ts';
import { ScenepressError } from '../base/errors.ts';
import type { Random } from '../base/random.ts';
import { isStorableText } from '../base/storable-text.ts';
import { SortableIds } from '../model/ids.ts';
import { type Job, type JobRecord, jobOf } from '../model/job.ts';
import { expiryOf, newToken, tokenHashOf } from '../model/link.ts';
import { newOwner } from '../model/owner.ts';
import { type Share, type ShareRecord, shareOf } from '../model/share.ts';
import type { ShareChanges, ShareQuery, ShareSettings } from '../model/share-requests.ts';
import type { Storage } from '../storage/storage.ts';
import type { Transaction } from '../storage/transaction.ts';
import type { Clock } from '../time/clock.ts';
import { SHARE_CHANGES, SHARE_QUERY, SHARE_SETTINGS } from './share-rules.ts';
import type { ShareViews } from './share-views.ts';
import { changedVideos } from './shared-videos.ts';

const DEFAULT_LIMIT = 100;
const MOST_SHARES = 10_000;
const FORGET_PAGE = 100;

/** A share to make. */
export interface NewShare extends ShareSettings {
  /** Whose it is: the owner of the jobs. */
  owner: string;
  jobIds: string[];
}

/** Restricts a call to one owner's shares; others are reported as `not_found`. */
export interface ShareScope {
  owner?: string;
}

/** Changes of a share; what is absent stays. */
export interface ChangeShare extends ShareChanges, ShareScope {}

/** What a link shows. */
export interface SharedVideos {
  share: Share;
  /** Completed and not forgotten; at least one. */
  jobs: Job[];
}

/** What they need of a service. */
export interface SharesParts {
  storage: Storage;
  views: ShareViews;
  /** Refuses what may not be written now, such as on a full disk. */
  assertAdmitted: (owner: string, tx: Transaction) => Promise<void>;
  /** Whether the links of an owner work. */
  admitsOwner: ((owner: string, tx: Transaction) => Promise<boolean> | boolean) | undefined;
  clock: Clock;
  random: Random;
}

const CREATE = Joi.object<NewShare>({
  ...SHARE_SETTINGS,
  owner: TEXT.required(),
  jobIds: SHARE_SETTINGS.jobIds.required(),
});
const CHANGE = Joi.object<ChangeShare>({ ...SHARE_CHANGES, owner: TEXT } satisfies Schemas<ChangeShare>);
const SCOPE = Joi.object<ShareScope>({ owner: TEXT });

/**
 * Links under which others watch videos of an owner, until they are revoked or expire.
 *
 * ```ts
 * const share = await service.shares.create({ owner: 'ada', jobIds: [jobId], title: 'Pythagoras' });
 * const { jobs } = await service.shares.find(share.token);
 * ```
 */
export class Shares {
  readonly #parts: SharesParts;
  readonly #ids: SortableIds;

  /** @internal */
  constructor(parts: SharesParts) {
    this.#parts = parts;
    this.#ids = new SortableIds(parts.clock, parts.random);
  }

  /**
   * Makes a link to a video, or to several. Errors: `invalid_request`; `not_found` for a job that does not exist; `conflict` for
   * one without a video; `too_much_stored` beyond 10,000 shares; `owner_refused`, `storage_full`, `storage_failed`.
   */
  async create(given: NewShare): Promise<Share> {
    const {
      owner,
      jobIds,
      allowDownload = true,
      expiresAt,
      ...rest
    } = checked('shares.create', given, CREATE);
    newOwner(owner);
    const { storage, clock, random } = this.#parts;
    const share: ShareRecord = {
      shareId: `s${this.#ids.next()}`,
      ...{ owner, jobIds, ...newToken(random) },
      visibility: rest.visibility ?? 'link',
      title: rest.title ?? null,
      description: rest.description ?? null,
      poster: rest.poster ?? null,
      allowDownload: Number(allowDownload),
      createdAtMs: clock.now(),
      expiresAtMs: expiryOf(expiresAt, clock.now()),
      revokedAtMs: null,
      views: 0,
    };
    await storage.transaction(async (tx) => {
      await storage.lockOwner(tx, owner);
      await this.#parts.assertAdmitted(owner, tx);
      if ((await storage.shares.count(owner, tx)) >= MOST_SHARES) throw tooMany();
      await this.#assertWatchable(tx, share);
      await storage.shares.insert(tx, share);
    });
    return shareOf(share, clock.now());
  }

  /** Error: `not_found` when there is no such share, or it has another owner. */
  async get(shareId: string, scope: ShareScope = {}): Promise<Share> {
    return shareOf(await this.#found(shareId, scope), this.#parts.clock.now());
  }

  /** Shares, newest first. */
  async list(query: ShareQuery = {}): Promise<Share[]> {
    const { limit = DEFAULT_LIMIT, ...page } = checked('shares.list', query, SHARE_QUERY);
    const nowMs = this.#parts.clock.now();
    return (await this.#parts.storage.shares.list({ ...page, limit })).map((share) => shareOf(share, nowMs));
  }

  /**
   * Changes a share; its link stays the same. Errors: those of {@link Shares.get} and {@link Shares.create}; `not_found` for a video
   * to move that it does not have; `conflict` for one that has been revoked, or that would have no video or more than 100.
   */
  async update(shareId: string, given: ChangeShare): Promise<Share> {
    const { owner, allowDownload, expiresAt, ...rest } = checked('shares.update', given, CHANGE);
    const { jobIds, addJobIds, removeJobIds: _, moveJob: __, ...settings } = rest;
    const changes = {
      ...settings,
      ...(allowDownload !== undefined && { allowDownload: Number(allowDownload) }),
      ...(expiresAt !== undefined && { expiresAtMs: expiryOf(expiresAt, this.#parts.clock.now()) }),
    };
    return this.#change(shareId, { ...(owner !== undefined && { owner }) }, async (share, tx) => {
      if (share.revokedAtMs !== null) throw revoked();
      await this.#parts.assertAdmitted(share.owner, tx);
      const changed: ShareRecord = { ...share, ...changes, jobIds: changedVideos(share.jobIds, rest) };
      if (jobIds ?? addJobIds) await this.#assertWatchable(tx, changed);
      return changed;
    });
  }

  /** Ends a link at once, for good. Errors: those of {@link Shares.get}. */
  async revoke(shareId: string, scope: ShareScope = {}): Promise<Share> {
    const nowMs = this.#parts.clock.now();
    return this.#change(shareId, scope, async (share) => ({
      ...share,
      revokedAtMs: share.revokedAtMs ?? nowMs,
    }));
  }

  /** Removes a share with its texts: its link is then unknown. Errors: those of {@link Shares.get}. */
  async remove(shareId: string, scope: ShareScope = {}): Promise<void> {
    const { storage } = this.#parts;
    const { owner } = await this.#found(shareId, scope);
    await storage.transaction(async (tx) => {
      await storage.lockOwner(tx, owner);
      await storage.shares.delete(tx, shareId);
    });
    await storage.purge();
  }

  /**
   * What a link shows. Errors: `not_found` for a token that is no link, or whose videos are forgotten or owner is refused;
   * `artifact_gone` when the link has expired or was revoked.
   */
  async find(token: string): Promise<SharedVideos> {
    const { storage, clock } = this.#parts;
    // Only its hash is compared, by the index.
    const hash = tokenHashOf(token);
    const record = hash === undefined ? undefined : await storage.shares.withToken(hash);
    if (!record) throw noLink();
    const share = shareOf(record, clock.now());
    if (share.state === 'private') throw noLink();
    if (share.state !== 'open') throw linkOver(share.state);
    if (!(await this.#admits(share.owner))) throw noLink();
    const records = await Promise.all(record.jobIds.map((jobId) => storage.getJob(jobId)));
    const jobs = records.filter((job): job is JobRecord => job !== undefined && isWatchable(job)).map(jobOf);
    if (jobs.length === 0) throw noLink();
    return { share, jobs };
  }

  /** Counts a view of a share. Counts are stored together, within seconds; some are lost when the process is killed. */
  noteView(shareId: string): void {
    this.#parts.views.note(shareId);
  }

  /** Removes all shares of an owner. @internal */
  async forget(owner: string): Promise<void> {
    const { storage } = this.#parts;
    for (;;) {
      const shares = await storage.shares.list({ owner, limit: FORGET_PAGE });
      if (shares.length === 0) return;
      await storage.transaction(async (tx) => {
        await storage.lockOwner(tx, owner);
        for (const { shareId } of shares) await storage.shares.delete(tx, shareId);
      });
    }
  }

  /** Stores counted views. @internal */
  settled(): Promise<void> {
    return this.#parts.views.write();
  }

  async #change(
    shareId: string,
    scope: ShareScope,
    change: (share: ShareRecord, tx: Transaction) => Promise<ShareRecord>,
  ): Promise<Share> {
    const { storage, clock } = this.#parts;
    const { owner } = await this.#found(shareId, scope);
    const changed = await storage.transaction(async (tx) => {
      await storage.lockOwner(tx, owner);
      const share = await storage.shares.get(shareId, tx);
      if (!share) throw noShare();
      const changed = await change(share, tx);
      await storage.shares.update(tx, changed);
      return changed;
    });
    return shareOf(changed, clock.now());
  }

  async #found(shareId: string, scope: ShareScope): Promise<ShareRecord> {
    const { owner } = checked('A call for a share', scope, SCOPE);
    const share = isStorableText(shareId) ? await this.#parts.storage.shares.get(shareId) : undefined;
    if (share && (owner === undefined || owner === share.owner)) return share;
    throw noShare();
  }

  async #admits(owner: string): Promise<boolean> {
    const { storage, admitsOwner } = this.#parts;
    if (!admitsOwner) return true;
    return storage.transaction(async (tx) => admitsOwner(owner, tx));
  }

  async #assertWatchable(tx: Transaction, { owner, jobIds }: ShareRecord): Promise<void> {
    for (const jobId of jobIds) {
      const job = await this.#parts.storage.getJob(jobId, tx);
      if (!job || job.owner !== owner || job.phase === 'reserving')
        throw new ScenepressError('not_found', 'There is no such job.');
      if (!isWatchable(job))
        throw new ScenepressError(
          'conflict',
          `Job ${jobId} has no video to share. Only a completed job that was not forgotten can be shared.`,
        );
    }
  }
}

function isWatchable({ phase, forgottenAtMs }: JobRecord): boolean {
  return phase === 'completed' && forgottenAtMs === undefined;
}

function noShare(): ScenepressError {
  return new ScenepressError('not_found', 'There is no such share, or it has been removed.');
}

function noLink(): ScenepressError {
  return new ScenepressError('not_found', 'There is no video under this link.');
}

function linkOver(state: 'expired' | 'revoked'): ScenepressError {
  return new ScenepressError(
    'artifact_gone',
    state === 'expired' ? 'This link has expired.' : 'This link has been revoked.',
  );
}

function revoked(): ScenepressError {
  return new ScenepressError('conflict', 'The share has been revoked, for good. Make a new one.');
}

function tooMany(): ScenepressError {
  const most = MOST_SHARES.toLocaleString('en');
  return new ScenepressError(
    'too_much_stored',
    `This account has ${most} shares, which is the limit. Remove some, then try again.`,
  );
}
