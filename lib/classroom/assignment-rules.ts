import Joi from 'joi';
import { COUNT, type Schemas, TEXT } from '../base/checked.ts';
import type { AssignmentQuery, AssignmentSettings, NewAssignment } from '../model/assignment-requests.ts';

/** Characters. */
const LONGEST_INSTRUCTIONS = 10_000;

/** Schemas of what an assignment gives, for the documents of the HTTP API, too. */
export const ASSIGNMENT_SETTINGS: Schemas<Omit<AssignmentSettings, 'className' | 'code' | 'settings'>> = {
  sceneId: TEXT.description('A scene of the account, whose current draft is given.'),
  title: TEXT.description('The name of each copy, in one line. Default: the name of the scene.'),
  instructions: (TEXT as Joi.StringSchema)
    .disallow('')
    .max(LONGEST_INSTRUCTIONS)
    .allow(null)
    .description('Plain text that is shown before and beside the code.'),
  classLinkId: TEXT.allow(null).description(
    'A class link of the account: people without an account join under it first. Null: they need an account.',
  ),
  expiresAt: Joi.string()
    .isoDate()
    .allow(null)
    .description('When the link stops working: ISO 8601. Null: never.'),
};

/** Schema of a new assignment. Its texts are checked as those of scenes. */
export const NEW_ASSIGNMENT: Joi.ObjectSchema<NewAssignment> = Joi.object({
  ...ASSIGNMENT_SETTINGS,
  owner: TEXT.required(),
  title: Joi.any(),
  className: Joi.any(),
  code: Joi.any(),
  settings: Joi.any(),
} satisfies Schemas<NewAssignment>);

/** Schema of a query of assignments. */
export const ASSIGNMENT_QUERY: Joi.ObjectSchema<AssignmentQuery> = Joi.object({
  owner: TEXT,
  before: TEXT,
  limit: COUNT,
} satisfies Schemas<AssignmentQuery>);
