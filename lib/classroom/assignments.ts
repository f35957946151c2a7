import Joi from 'joi';
import { checked, TEXT } from '../base/checked.ts';
import { ScenepressError } from '../base/errors.ts';
import type { Random } from '../base/random.ts';
import { isStorableText } from '../base/storable-text.ts';
import { type Assignment, type AssignmentRecord, assignmentOf } from '../model/assignment.ts';
import type {
  AssignmentQuery,
  AssignmentScope,
  AssignmentSettings,
  NewAssignment,
} from '../model/assignment-requests.ts';
import { SortableIds } from '../model/ids.ts';
import { endOfLink, expiryOf, newToken, noLongerValid, tokenHashOf } from '../model/link.ts';
import { newOwner } from '../model/owner.ts';
import { type AddsScenes, addScene } from '../scenes/new-scene.ts';
import { foundScene } from '../scenes/scene-parts.ts';
import { type DraftTexts, validDraft, validName } from '../scenes/valid-scene.ts';
import type { Transaction } from '../storage/transaction.ts';
import { ASSIGNMENT_QUERY, NEW_ASSIGNMENT } from './assignment-rules.ts';

const DEFAULT_LIMIT = 100;
/** Each may have 200 KiB of code. */
const MOST_ASSIGNMENTS = 500;
const FORGET_PAGE = 100;
const SCOPE = Joi.object<AssignmentScope>({ owner: TEXT });
const OPEN = Joi.object<{ owner: string }>({ owner: TEXT.required() });

/** What assignments need of a service. @internal */
export interface AssignmentsParts extends AddsScenes {
  /** Whether the links of an owner work. */
  admitsOwner: ((owner: string, tx: Transaction) => Promise<boolean> | boolean) | undefined;
  random: Random;
}

/**
 * Links under which others get code as a scene of their own, until they are revoked or expire.
 *
 * ```ts
 * const { token } = await service.assignments.create({ owner: 'teacher', sceneId, instructions: 'Change the colour.' });
 * const { sceneId: copy } = await service.assignments.open(token, { owner: 'student' });
 * ```
 */
export class Assignments {
  readonly #parts: AssignmentsParts;
  readonly #ids: SortableIds;

  /** @internal */
  constructor(parts: AssignmentsParts) {
    this.#parts = parts;
    this.#ids = new SortableIds(parts.clock, parts.random);
  }

  /**
   * Makes a link to the current draft of a scene, or to code. Later changes of the scene don't change it. Errors:
   * `invalid_request`; `not_found` for a scene or a class link that the owner does not have; `too_much_stored` beyond 500
   * assignments; `owner_refused`, `storage_full`, `storage_failed`.
   */
  async create(given: NewAssignment): Promise<Assignment> {
    const {
      owner,
      instructions = null,
      classLinkId = null,
      expiresAt,
      ...of
    } = checked('assignments.create', given, NEW_ASSIGNMENT);
    newOwner(owner);
    const { storage, clock, random } = this.#parts;
    const nowMs = clock.now();
    const assignment: AssignmentRecord = {
      assignmentId: `a${this.#ids.next()}`,
      ...{ owner, instructions, classLinkId, ...newToken(random) },
      ...(await this.#given(owner, of)),
      createdAtMs: nowMs,
      expiresAtMs: expiryOf(expiresAt, nowMs),
      revokedAtMs: null,
    };
    await storage.transaction(async (tx) => {
      await storage.lockOwner(tx, owner);
      await this.#parts.assertAdmitted(owner, tx);
      const { assignments, classLinks } = storage;
      if (classLinkId !== null && (await classLinks.get(classLinkId, tx))?.owner !== owner)
        throw noClassLink();
      if ((await assignments.count(owner, tx)) >= MOST_ASSIGNMENTS) throw tooMany();
      await assignments.insert(tx, assignment);
    });
    return this.#shown(assignment);
  }

  /** Error: `not_found` when there is no such assignment, or it has another owner. */
  async get(assignmentId: string, scope: AssignmentScope = {}): Promise<Assignment> {
    return this.#shown(await this.#found(assignmentId, scope));
  }

  /** Assignments, newest first. */
  async list(query: AssignmentQuery = {}): Promise<Assignment[]> {
    const { limit = DEFAULT_LIMIT, ...page } = checked('assignments.list', query, ASSIGNMENT_QUERY);
    const found = await this.#parts.storage.assignments.list({ ...page, limit });
    return Promise.all(found.map((assignment) => this.#shown(assignment)));
  }

  /** Ends a link at once, for good; copies stay with those who have them. Errors: those of {@link Assignments.get}. */
  async revoke(assignmentId: string, scope: AssignmentScope = {}): Promise<Assignment> {
    const { storage, clock } = this.#parts;
    const { owner } = await this.#found(assignmentId, scope);
    const revoked = await storage.transaction(async (tx) => {
      await storage.lockOwner(tx, owner);
      const assignment = await storage.assignments.get(assignmentId, tx);
      if (!assignment) throw noAssignment();
      const changed = { ...assignment, revokedAtMs: assignment.revokedAtMs ?? clock.now() };
      await storage.assignments.revoke(tx, changed);
      return changed;
    });
    return this.#shown(revoked);
  }

  /** Removes an assignment with its texts; copies stay with those who have them. Errors: those of {@link Assignments.get}. */
  async remove(assignmentId: string, scope: AssignmentScope = {}): Promise<void> {
    const { storage } = this.#parts;
    const { owner } = await this.#found(assignmentId, scope);
    await storage.transaction(async (tx) => {
      await storage.lockOwner(tx, owner);
      await storage.assignments.delete(tx, assignmentId);
    });
    await storage.purge();
  }

  /**
   * What a link gives. Error: `not_found`, whether it has never been one, has expired, was revoked, or its owner is refused: a link
   * tells no more.
   */
  async find(token: string): Promise<Assignment> {
    return this.#shown(await this.#linked(token));
  }

  /**
   * The copy of an owner: a scene with the title and the code of the assignment, made when the owner opens the link first, and again
   * if it was removed. Errors: those of {@link Assignments.find}; `too_much_stored` beyond the owner's limits of scenes;
   * `owner_refused`, `storage_full`.
   */
  async open(token: string, given: { owner: string }): Promise<{ assignmentId: string; sceneId: string }> {
    const { owner } = checked('assignments.open', given, OPEN);
    newOwner(owner);
    const { assignmentId } = await this.#linked(token);
    const { storage, clock } = this.#parts;
    // Not in the transaction, which may run again.
    const newId = `d${this.#ids.next()}`;
    return storage.transaction(async (tx) => {
      await storage.lockOwner(tx, owner);
      const assignment = await storage.assignments.get(assignmentId, tx);
      if (!assignment || endOfLink(assignment, clock.now())) throw noLongerValid();
      const copy = await storage.assignments.copyOf(assignmentId, owner, tx);
      if (copy) return { assignmentId, sceneId: copy.sceneId };
      const { title, className, code, settings } = assignment;
      const texts = { className, code, settings };
      await addScene(tx, this.#parts, { sceneId: newId, owner, name: title, texts });
      const openedAtMs = clock.now();
      await storage.assignments.addCopy(tx, { assignmentId, owner, sceneId: newId, openedAtMs });
      return { assignmentId, sceneId: newId };
    });
  }

  /** The id of the copy that an owner has of an assignment; undefined without one. */
  async copyOf(assignmentId: string, owner: string): Promise<string | undefined> {
    return (await this.#parts.storage.assignments.copyOf(assignmentId, owner))?.sceneId;
  }

  /** The assignment that a scene is a copy of, also if its link has ended; undefined for other scenes. */
  async ofScene(sceneId: string): Promise<Assignment | undefined> {
    const { assignments } = this.#parts.storage;
    const copy = isStorableText(sceneId) ? await assignments.copyWithScene(sceneId) : undefined;
    const assignment = copy && (await assignments.get(copy.assignmentId));
    return assignment && this.#shown(assignment);
  }

  /** Removes all assignments of an owner. @internal */
  async forget(owner: string): Promise<void> {
    const { storage } = this.#parts;
    for (;;) {
      const page = await storage.assignments.list({ owner, limit: FORGET_PAGE });
      if (page.length === 0) return;
      await storage.transaction(async (tx) => {
        await storage.lockOwner(tx, owner);
        for (const { assignmentId } of page) await storage.assignments.delete(tx, assignmentId);
      });
    }
  }

  /** Title and texts of an assignment: of a scene, or as they are given. */
  async #given(
    owner: string,
    { sceneId, title, className = '', code = '', settings = {} }: AssignmentSettings,
  ): Promise<DraftTexts & { title: string }> {
    if (sceneId === undefined)
      return { title: validName(title, 'title'), ...withoutFiles(validDraft({ className, code, settings })) };
    if (className !== '' || code !== '' || Object.keys(settings).length > 0) {
      const message = 'An assignment has either a sceneId, or className, code and settings.';
      throw new ScenepressError('invalid_request', message);
    }
    const { storage } = this.#parts;
    const { name } = await foundScene(storage, sceneId, owner);
    const draft = await storage.scenes.draft(sceneId);
    const texts = {
      className: draft?.className ?? '',
      code: draft?.code ?? '',
      settings: draft?.settings ?? {},
    };
    return { title: validName(title ?? name, 'title'), ...withoutFiles(texts) };
  }

  async #linked(token: string): Promise<AssignmentRecord> {
    const { storage, clock, admitsOwner } = this.#parts;
    // Only its hash is compared, by the index.
    const hash = tokenHashOf(token);
    const assignment = hash === undefined ? undefined : await storage.assignments.withToken(hash);
    if (!assignment || endOfLink(assignment, clock.now())) throw noLongerValid();
    const isAdmitted =
      !admitsOwner || (await storage.transaction(async (tx) => admitsOwner(assignment.owner, tx)));
    if (!isAdmitted) throw noLongerValid();
    return assignment;
  }

  async #found(assignmentId: string, scope: AssignmentScope): Promise<AssignmentRecord> {
    const { owner } = checked('A call for an assignment', scope, SCOPE);
    const { assignments } = this.#parts.storage;
    const assignment = isStorableText(assignmentId) ? await assignments.get(assignmentId) : undefined;
    if (assignment && (owner === undefined || owner === assignment.owner)) return assignment;
    throw noAssignment();
  }

  async #shown(assignment: AssignmentRecord): Promise<Assignment> {
    const { storage, clock } = this.#parts;
    const copies = await storage.assignments.countCopies(assignment.assignmentId);
    return assignmentOf(assignment, { copies, nowMs: clock.now() });
  }
}

/** Files are those of an owner, and others have other ones. */
function withoutFiles({ settings, ...texts }: DraftTexts): DraftTexts {
  const { files: _, ...others } = settings;
  return { ...texts, settings: others };
}

function noAssignment(): ScenepressError {
  return new ScenepressError('not_found', 'There is no such assignment, or it has been removed.');
}

function noClassLink(): ScenepressError {
  return new ScenepressError('not_found', 'There is no such class link, or it is for another account.');
}

function tooMany(): ScenepressError {
  return new ScenepressError(
    'too_much_stored',
    `This account has ${MOST_ASSIGNMENTS} assignments, which is the limit. Remove some, then try again.`,
  );
}
