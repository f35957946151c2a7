import type Joi from 'joi';
import * as accounts from './accounts.ts';
import * as credits from './credits.ts';
import * as data from './data.ts';
import * as deliveries from './deliveries.ts';
import { file } from './files.ts';
import { checkedSource, inspectedSource } from './findings.ts';
import * as jobs from './jobs.ts';
import { list } from './parts.ts';
import * as program from './program.ts';
import { renders } from './renders.ts';
import * as scenes from './scenes.ts';
import * as service from './service.ts';
import { share } from './shares.ts';

/** What each command prints with `--json`, by the words of the command. */
export const OUTPUTS: ReadonlyMap<string, Joi.Schema> = new Map(
  Object.entries({
    render: renders,
    check: checkedSource,
    inspect: inspectedSource,
    'file put': list(file),
    'file list': list(file),
    'file get': file,
    'file remove': list(file),
    'file rename': file,
    'share create': share,
    'share list': list(share),
    'share revoke': share,
    'scene list': list(scenes.scene),
    'scene pull': list(scenes.movedScene),
    'scene push': list(scenes.movedScene),
    'skill install': program.installedSkill,
    'skill show': program.skillPage,
    'account create': accounts.account,
    'account list': list(accounts.account),
    'account disable': accounts.disabledAccount,
    'account enable': accounts.account,
    'account set-password': accounts.account,
    'account invite': accounts.invitation,
    'account set-role': accounts.account,
    'account reset-two-factor': accounts.account,
    'account set-limits': accounts.account,
    'account link': accounts.account,
    'account unlink': accounts.account,
    'account acts': list(accounts.act),
    'account delete': accounts.deletedAccount,
    'setup-link': accounts.setupLink,
    'key create': accounts.newKey,
    'key list': list(accounts.key),
    'key show': accounts.key,
    'key revoke': accounts.revokedKey,
    'key rotate-secret': accounts.rotatedSecret,
    'key set-webhook': accounts.keyWebhook,
    'job list': list(jobs.job),
    'job count': jobs.jobCounts,
    'job show': jobs.foundJob,
    'job watch': jobs.shownJob,
    'job cancel': jobs.changedJobs,
    'job label': jobs.job,
    'job forget': jobs.changedJobs,
    'job retry': jobs.changedJobs,
    'queue show': service.queue,
    'queue pause': service.queue,
    'queue resume': service.queue,
    'credits grant': credits.balance,
    'credits take-back': credits.balance,
    'credits balance': credits.balance,
    'credits statement': list(credits.statementLine),
    'credits spending': list(credits.daySpending),
    'credits prices': credits.prices,
    'credits audit': credits.audit,
    'delivery list': list(deliveries.delivery),
    'delivery show': deliveries.deliveryDetails,
    'delivery send-again': deliveries.delivery,
    'delivery send-now': deliveries.delivery,
    'delivery give-up': deliveries.delivery,
    'delivery send-failed-again': deliveries.sentAgain,
    'delivery test': deliveries.webhookTest,
    'machine list': list(service.machine),
    'machine drain': service.machine,
    'machine forget': service.machine,
    backup: data.backup,
    restore: data.restored,
    'master-key rotate': data.rotatedMasterKey,
    recover: data.recovery,
    migrate: data.migration,
    'installation continue': data.installation,
    'installation separate': data.separated,
    status: service.service,
    health: service.health,
    doctor: service.examination,
    'support-bundle': program.supportBundle,
    'config show': program.settings,
    'config check': program.configProblems,
    'metrics show': program.metrics,
    'metrics dashboard': program.dashboard,
    openapi: program.openApi,
    schema: program.schemas,
    version: program.versions,
  }),
);

/** The JSON Schema, draft 2020-12, of what a command prints with `--json`; undefined if there is no such command. */
export function schemaOf(command: string): Record<string, unknown> | undefined {
  const output = OUTPUTS.get(command);
  if (!output) return undefined;
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: `scenepress ${command} --json`,
    ...output['~standard'].jsonSchema.input({ target: 'draft-2020-12' }),
  };
}
