import type { Assignment, ClassLink } from '../../lib/internal.ts';

/** An assignment of an account in a list. */
export interface AssignmentInfo extends Omit<Assignment, 'owner' | 'className' | 'code' | 'settings'> {
  /** The e-mail address of its account. */
  account: string;
  /** The class link under which people without an account join; null: none, or it was removed. */
  classLink: Pick<ClassLink, 'classLinkId' | 'name' | 'state'> | null;
}

/** An assignment with what it gives. */
export interface AssignmentDetails
  extends AssignmentInfo,
    Pick<Assignment, 'className' | 'code' | 'settings'> {}

/** A page of a list of assignments. */
export interface AssignmentPage {
  assignments: AssignmentInfo[];
  /** Continues as `before` of the next page; null at the end. */
  next: string | null;
}

/** What an account that has the link of an assignment sees of it. */
export interface ReceivedAssignment {
  title: string;
  instructions: string | null;
  /** The copy that the account has; null before it opens the link. */
  sceneId: string | null;
}

/** A class link for an account. */
export interface ClassLinkInfo extends Omit<ClassLink, 'owner'> {
  /** The e-mail address of its account. */
  account: string;
}

/** A page of a list of class links. */
export interface ClassLinkPage {
  classLinks: ClassLinkInfo[];
  /** Continues as `before` of the next page; null at the end. */
  next: string | null;
}

/** An account that has joined. */
export interface JoinedAccount {
  userId: string;
  /** Null once the account is deleted. */
  email: string | null;
  /** ISO 8601. */
  joinedAt: string;
}

/** A class link with who has joined. */
export interface ClassLinkDetails extends ClassLinkInfo {
  /** The first ones first. */
  joined: JoinedAccount[];
}
