import type { AssignmentCopy, AssignmentRecord } from '../model/assignment.ts';
import type { Transaction } from './transaction.ts';

/** A page of assignments, newest first. */
export interface AssignmentPage {
  owner?: string | undefined;
  /** Only those whose ids are less. */
  before?: string | undefined;
  limit: number;
}

/** Assignments, and the scenes that others got from them. They commit together with the scenes. */
export interface AssignmentStore {
  insert(tx: Transaction, assignment: AssignmentRecord): Promise<void>;
  /** Ends one that exists. */
  revoke(tx: Transaction, assignment: AssignmentRecord): Promise<void>;
  /** Removes one with its copies, not their scenes, and makes all copies of its texts unreadable. */
  delete(tx: Transaction, assignmentId: string): Promise<void>;
  /** With `tx`, no other transaction can change it until this one ends. */
  get(assignmentId: string, tx?: Transaction): Promise<AssignmentRecord | undefined>;
  /** The assignment whose token has this hash. */
  withToken(tokenHash: string): Promise<AssignmentRecord | undefined>;
  list(page: AssignmentPage): Promise<AssignmentRecord[]>;
  count(owner: string, tx: Transaction): Promise<number>;

  /** Adds a copy. Its assignment and its owner are locked. */
  addCopy(tx: Transaction, copy: AssignmentCopy): Promise<void>;
  /** The copy that an owner has. It goes with its scene. */
  copyOf(assignmentId: string, owner: string, tx?: Transaction): Promise<AssignmentCopy | undefined>;
  /** The copy that a scene is. */
  copyWithScene(sceneId: string): Promise<AssignmentCopy | undefined>;
  countCopies(assignmentId: string): Promise<number>;
}
