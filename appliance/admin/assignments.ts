import type { Accounts, RenderService } from '../../lib/index.ts';
import {
  type Assignment,
  type AssignmentSettings,
  type ClassLinks,
  isScenepressError,
} from '../../lib/internal.ts';
import type { AdministrationParts } from './administration.ts';
import { check, listLimit, placeInList } from './administration-requests.ts';
import type {
  AssignmentDetails,
  AssignmentInfo,
  AssignmentPage,
  ReceivedAssignment,
} from './assignment-views.ts';
import { pageOf } from './pages.ts';

/** Names an assignment. */
interface Named {
  assignmentId: string;
}

/** An assignment to give: the draft of a `scene`, or code. The class link is named by its id. */
export interface GivenAssignment extends Omit<AssignmentSettings, 'sceneId' | 'classLinkId'> {
  account: string;
  scene?: string;
  classLink?: string | null;
}

/** Links of accounts under which others get code as scenes of their own. */
export class AssignmentAdministration {
  readonly #accounts: Accounts;
  readonly #classLinks: ClassLinks;
  readonly #service: RenderService;

  constructor({
    accounts,
    classLinks,
    service,
  }: Pick<AdministrationParts, 'accounts' | 'classLinks' | 'service'>) {
    this.#accounts = accounts;
    this.#classLinks = classLinks;
    this.#service = service;
  }

  /** Makes a link to the current draft of a scene, or to code. Errors: those of {@link Assignments.create}. */
  async create({ account, scene, classLink, ...settings }: GivenAssignment): Promise<AssignmentDetails> {
    const { accountId } = await this.#accounts.find(account);
    const created = await this.#service.assignments.create({
      ...settings,
      ...(scene !== undefined && { sceneId: scene }),
      ...(classLink !== undefined && { classLinkId: classLink }),
      owner: accountId,
    });
    return this.#details(created);
  }

  /** Newest first. `before`: the last assignment of the previous page. */
  async list(request: {
    account?: string | undefined;
    limit?: number | undefined;
    before?: string | undefined;
  }): Promise<AssignmentPage> {
    const { account } = request;
    const limit = check(listLimit, request.limit);
    const before = check(placeInList, request.before);
    const found = await this.#service.assignments.list({
      limit: limit + 1,
      ...(account !== undefined && { owner: (await this.#accounts.find(account)).accountId }),
      ...(before !== undefined && { before }),
    });
    const { rows, next } = pageOf(found, limit, ({ assignmentId }) => assignmentId);
    return { assignments: await Promise.all(rows.map((assignment) => this.#info(assignment))), next };
  }

  /** Error: `not_found`. */
  async show({ assignmentId }: Named): Promise<AssignmentDetails> {
    return this.#details(await this.#service.assignments.get(String(assignmentId)));
  }

  /** Ends the link at once, for good; copies stay. Error: `not_found`. */
  async revoke({ assignmentId }: Named): Promise<AssignmentInfo> {
    return this.#info(await this.#service.assignments.revoke(String(assignmentId)));
  }

  /** Erases the assignment; copies stay. Error: `not_found`. */
  async remove({ assignmentId }: Named): Promise<AssignmentInfo> {
    const assignment = await this.#info(await this.#service.assignments.get(String(assignmentId)));
    await this.#service.assignments.remove(assignment.assignmentId);
    return assignment;
  }

  /** What an account sees that has the link. Error: `not_found` for one that does not work. */
  async read({ account, token }: { account: string; token: string }): Promise<ReceivedAssignment> {
    const { accountId } = await this.#accounts.find(account);
    const { assignmentId, title, instructions } = await this.#service.assignments.find(String(token));
    const sceneId = await this.#service.assignments.copyOf(assignmentId, accountId);
    return { title, instructions, sceneId: sceneId ?? null };
  }

  /** The copy of an account, which is made when it opens the link first. Errors: those of {@link Assignments.open}. */
  async open({
    account,
    token,
  }: {
    account: string;
    token: string;
  }): Promise<{ assignmentId: string; sceneId: string }> {
    const { accountId } = await this.#accounts.find(account);
    return this.#service.assignments.open(String(token), { owner: accountId });
  }

  /** The assignment that a scene is a copy of; null for other scenes. */
  async ofScene({ sceneId }: { sceneId: string }): Promise<ReceivedAssignment | null> {
    const assignment = await this.#service.assignments.ofScene(String(sceneId));
    return assignment ? { title: assignment.title, instructions: assignment.instructions, sceneId } : null;
  }

  async #details(assignment: Assignment): Promise<AssignmentDetails> {
    const { className, code, settings } = assignment;
    return { ...(await this.#info(assignment)), className, code, settings };
  }

  async #info(assignment: Assignment): Promise<AssignmentInfo> {
    const { owner, className: _, code: __, settings: ___, ...info } = assignment;
    const account = await this.#accounts.find(owner).catch(() => undefined);
    return { ...info, account: account?.email ?? owner, classLink: await this.#classLinkOf(assignment) };
  }

  async #classLinkOf({ classLinkId }: Assignment): Promise<AssignmentInfo['classLink']> {
    if (classLinkId === null) return null;
    try {
      const { name, state } = await this.#classLinks.get(classLinkId);
      return { classLinkId, name, state };
    } catch (error) {
      // It was removed.
      if (!isScenepressError(error, 'not_found')) throw error;
      return null;
    }
  }
}
