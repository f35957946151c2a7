import { accounts } from './accounts.ts';
import { acts } from './acts.ts';
import { assignments } from './assignments.ts';
import { common } from './common.ts';
import { counts } from './counts.ts';
import { credits } from './credits.ts';
import { errors } from './errors.ts';
import { files } from './files.ts';
import { format } from './format.ts';
import { job } from './job.ts';
import { jobs } from './jobs.ts';
import { keys } from './keys.ts';
import { layout } from './layout.ts';
import { library } from './library.ts';
import { overview } from './overview.ts';
import { ownAccount } from './own-account.ts';
import { playground } from './playground.ts';
import { scenes } from './scenes.ts';
import { service } from './service.ts';
import { shares } from './shares.ts';
import { signIn } from './sign-in.ts';
import { twoFactor } from './two-factor.ts';
import { watch } from './watch.ts';
import { webhooks } from './webhooks.ts';

/**
 * What a language file has: the keys of English, by the page or the part that shows them. A text with values in it is a
 * function, so that each language chooses its order and its plural forms. One with markup in it has names in braces for
 * `filled()`, and code between backticks.
 */
export interface Texts {
  accounts: typeof accounts;
  acts: typeof acts;
  assignments: typeof assignments;
  common: typeof common;
  counts: typeof counts;
  credits: typeof credits;
  errors: typeof errors;
  files: typeof files;
  format: typeof format;
  job: typeof job;
  jobs: typeof jobs;
  keys: typeof keys;
  layout: typeof layout;
  library: typeof library;
  overview: typeof overview;
  ownAccount: typeof ownAccount;
  playground: typeof playground;
  scenes: typeof scenes;
  service: typeof service;
  shares: typeof shares;
  signIn: typeof signIn;
  twoFactor: typeof twoFactor;
  watch: typeof watch;
  webhooks: typeof webhooks;
}

/** The dashboard's texts in English. */
export const EN: Texts = {
  accounts,
  acts,
  assignments,
  common,
  counts,
  credits,
  errors,
  files,
  format,
  job,
  jobs,
  keys,
  layout,
  library,
  overview,
  ownAccount,
  playground,
  scenes,
  service,
  shares,
  signIn,
  twoFactor,
  watch,
  webhooks,
};
