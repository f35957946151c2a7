import type { Texts } from '../en/index.ts';
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

/** The dashboard's texts in German. */
export const DE: Texts = {
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
