import Joi from 'joi';
import { KEY_SCOPES } from '../../../lib/internal.ts';
import type {
  AccountInfo,
  ActInfo,
  DeletedAccount,
  Invitation,
  KeyInfo,
  NewKey,
} from '../../admin/administration-views.ts';
import { count, list, number, object, oneOf, text, time, yes } from './parts.ts';

const ofAccount = {
  userId: text,
  email: text,
  createdAt: time,
  disabledAt: time.allow(null).description('Since when its keys are rejected; null while they are accepted.'),
  role: oneOf<AccountInfo['role']>({ admin: true, member: true }).description(
    'What it may do in the dashboard.',
  ),
  hasPassword: yes.description('Whether it can sign in to the dashboard.'),
  hasTwoFactor: yes.description('Whether signing in also needs a code.'),
  recoveryCodes: count.description('Number of its unused recovery codes.'),
  maxQueued: count.allow(null).description('How many of its jobs may wait; null: as many as of any account.'),
  maxFilesMb: count.allow(null).description('How many MiB its files may take; null: as of any account.'),
  maxScenes: count.allow(null).description('How many scenes it may have; null: as many as any account.'),
  identity: object<NonNullable<AccountInfo['identity']>>({ issuer: text, subject: text })
    .allow(null)
    .description('The person whose access tokens act for it; null without a link.'),
};

export const account: Joi.ObjectSchema = object<AccountInfo>(ofAccount);

export const disabledAccount: Joi.ObjectSchema = object<AccountInfo & { canceledJobs: number }>({
  ...ofAccount,
  canceledJobs: count.description('How many of its jobs were canceled; 0 without `--cancel-jobs`.'),
});

export const deletedAccount: Joi.ObjectSchema = object<DeletedAccount>({
  userId: text.description('Identifies its entries in the books.'),
  revokedKeys: count,
  forgottenJobs: count,
});

export const invitation: Joi.ObjectSchema = object<Invitation>({
  url: text.description('Where the password is chosen.'),
  expiresAt: time,
});

export const setupLink: Joi.ObjectSchema = object<{ url: string | null }>({
  url: text.allow(null).description('Null when there is nothing to set up.'),
});

export const act: Joi.ObjectSchema = object<ActInfo>({
  actId: text,
  at: time,
  actor: text
    .allow(null)
    .description('E-mail address or, if deleted, user id of an account; null: the command line.'),
  action: text.description('The operation, such as `keys.revoke`.'),
  amountCredits: number.allow(null).description('Credits added or taken back; null for other operations.'),
  count: count.description('How many equal acts it stands for.'),
  subject: text.allow(null).description('The id of its object.'),
  subjectName: text.allow(null).description('The name of its object; null if it has none any more.'),
  address: text.allow(null).description('The network address of the actor.'),
});

const ofKey = {
  keyId: text,
  keyPrefix: text.description('The first characters of the key, which are safe to show.'),
  name: text,
  account: text.description('The e-mail address of its account.'),
  webhookUrl: text
    .allow(null)
    .description('Where outcomes are sent if a request names no URL; null: nowhere.'),
  createdAt: time,
  scopes: list(Joi.string().valid(...KEY_SCOPES)).description('What it may be used for.'),
  expiresAt: time.allow(null).description('From when on it is rejected; null: never.'),
  revokedAt: time.allow(null),
  state: oneOf<KeyInfo['state']>({ live: true, revoked: true, expired: true }),
  lastUsedAt: time
    .allow(null)
    .description('When a request with it was last accepted, to the minute; null: never.'),
};

export const key: Joi.ObjectSchema = object<KeyInfo>(ofKey);

export const newKey: Joi.ObjectSchema = object<NewKey>({
  ...ofKey,
  key: text.description('The API key, which is shown only once.'),
  webhookSecret: text.description('The secret that signs its webhooks, which is shown only once.'),
});

export const revokedKey: Joi.ObjectSchema = object<{ keyId: string; revokedAt: string }>({
  keyId: text,
  revokedAt: time,
});

export const rotatedSecret: Joi.ObjectSchema = object<{ keyId: string; webhookSecret: string }>({
  keyId: text,
  webhookSecret: text.description('Signs webhooks from now on; shown only once.'),
});

export const keyWebhook: Joi.ObjectSchema = object<{ keyId: string; webhookUrl: string | null }>({
  keyId: text,
  webhookUrl: text.allow(null),
});
