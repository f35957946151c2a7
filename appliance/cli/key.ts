import { Command, InvalidArgumentError } from 'commander';
import { areScopes, KEY_SCOPES, type KeyScope } from '../../lib/internal.ts';
import type { KeyInfo } from '../admin/administration-views.ts';
import { withAdministration } from '../runtime/with-administration.ts';
import { configOf } from './config-flags.ts';
import { addExamples, administrative } from './describe.ts';
import { noteNextPage, print, printDetails, printJson, printTable, shownTime } from './output.ts';
import { wholeNumber } from './whole-number.ts';

type Flags = { json?: boolean } & Record<string, unknown>;

interface ListFlags extends Flags {
  account?: string;
  live?: boolean;
  limit?: number;
  after?: string;
}

interface CreateFlags extends Flags {
  account: string;
  name: string;
  webhookUrl?: string;
  scopes?: readonly KeyScope[];
  expires?: string;
}

/** `scenepress key …` */
export function keyCommand(): Command {
  const key = new Command('key').description('API keys');
  addExamples(key, 'scenepress key create --account ada@example.org --name "Web site"');

  key.addCommand(
    administrative(
      'create',
      'Create a key; it is shown only once',
      'scenepress key create --account ada@example.org --name "Web site" --webhook-url https://example.org/hook',
      [
        'scenepress key create --account ada@example.org --name Course --scopes render --expires 2027-01-31',
        'until that day’s end (UTC)',
      ],
    )
      .requiredOption('--account <account>', 'account that owns the key: e-mail address or user id')
      .requiredOption('--name <name>', 'purpose of the key')
      .option('--webhook-url <url>', 'URL for the outcomes of its jobs when a request names none (https://)')
      .option(
        '--scopes <list>',
        `what it may be used for: ${KEY_SCOPES.join(', ')}, separated by commas (default: all)`,
        scopesIn,
      )
      .option(
        '--expires <when>',
        'last day of its use (UTC), such as 2027-01-31, or a duration such as 12h, 90d or 4w (default: never)',
      )
      .action(async (flags: CreateFlags) => {
        const { account, name, webhookUrl, scopes, expires } = flags;
        const made = await withAdministration(configOf(flags), (admin) =>
          admin.keys.create({ account, name, webhookUrl, scopes, expires }),
        );
        if (flags.json) return printJson(made);
        print(
          `Key ${made.keyId} ("${made.name}") of ${made.account}${shownLimits(made)}. These values are not shown again:\n`,
        );
        print(`  API key         ${made.key}`);
        print(`  Webhook secret  ${made.webhookSecret}`);
      }),
  );

  key.addCommand(
    administrative('list', 'List keys, oldest first', 'scenepress key list --account ada@example.org')
      .option('--account <account>', 'only keys of this account: e-mail address or user id')
      .option('--live', 'without revoked and expired keys')
      .option('--limit <number>', 'maximum number of keys (default: 50)', wholeNumber)
      .option('--after <keyId>', 'only keys behind this one')
      .action(async (flags: ListFlags) => {
        const { account, live, limit, after } = flags;
        const { keys, next } = await withAdministration(configOf(flags), (admin) =>
          admin.keys.list({ account, live, limit, after }),
        );
        noteNextPage('keys', next);
        if (flags.json) return printJson(keys);
        printTable(
          ['KEY ID', 'KEY', 'NAME', 'ACCOUNT', 'SCOPES', 'CREATED', 'EXPIRES', 'REVOKED'],
          keys.map((key) => [
            key.keyId,
            `${key.keyPrefix}…`,
            key.name,
            key.account,
            key.scopes.join(','),
            shownTime(key.createdAt),
            shownTime(key.expiresAt),
            shownTime(key.revokedAt),
          ]),
        );
      }),
  );

  key.addCommand(
    administrative('show <keyId>', 'Show a key without its secrets', 'scenepress key show KEYID').action(
      async (keyId: string, flags: Flags) => {
        const key = await withAdministration(configOf(flags), (admin) => admin.keys.show({ keyId }));
        if (flags.json) return printJson(key);
        printDetails([
          ['Key', `${key.keyId}, ${key.keyPrefix}…`],
          ['Name', key.name],
          ['Account', key.account],
          ['Webhook', key.webhookUrl],
          ['Scopes', key.scopes.join(', ')],
          ['Created', shownTime(key.createdAt)],
          ['Last used', key.lastUsedAt === null ? 'never' : shownTime(key.lastUsedAt)],
          ['Expires', key.expiresAt === null ? 'never' : shownTime(key.expiresAt)],
          ['Revoked', shownTime(key.revokedAt)],
        ]);
      },
    ),
  );

  key.addCommand(
    administrative(
      'revoke <keyId>',
      'Revoke a key immediately and permanently',
      'scenepress key revoke KEYID',
    ).action(async (keyId: string, flags: Flags) => {
      const revoked = await withAdministration(configOf(flags), (admin) => admin.keys.revoke({ keyId }));
      if (flags.json) printJson(revoked);
      else print(`Key ${keyId} is revoked.`);
    }),
  );

  key.addCommand(
    administrative(
      'rotate-secret <keyId>',
      'Replace the webhook secret of a key immediately; it is shown only once',
      'scenepress key rotate-secret KEYID',
    ).action(async (keyId: string, flags: Flags) => {
      const rotated = await withAdministration(configOf(flags), (admin) =>
        admin.keys.rotateSecret({ keyId }),
      );
      if (flags.json) return printJson(rotated);
      print(`Webhooks of key ${keyId} are signed with this secret from now on. It is not shown again:\n`);
      print(`  Webhook secret  ${rotated.webhookSecret}`);
    }),
  );

  key.addCommand(
    administrative(
      'set-webhook <keyId> <url>',
      'Set the URL for outcomes of future jobs whose request names none: https://…, or "none"',
      'scenepress key set-webhook KEYID https://example.org/hook',
      'scenepress key set-webhook KEYID none',
    ).action(async (keyId: string, url: string, flags: Flags) => {
      const webhookUrl = url === 'none' ? null : url;
      const set = await withAdministration(configOf(flags), (admin) =>
        admin.keys.setWebhook({ keyId, webhookUrl }),
      );
      if (flags.json) printJson(set);
      else
        print(
          `Outcomes of future jobs of key ${keyId} are ${set.webhookUrl ? `sent to ${set.webhookUrl}` : 'not sent'}, unless a request names a URL.`,
        );
    }),
  );

  return key;
}

function scopesIn(list: string): readonly KeyScope[] {
  const scopes = list.split(',').map((scope) => scope.trim());
  if (areScopes(scopes)) return scopes;
  throw new InvalidArgumentError(`Give one or several of ${KEY_SCOPES.join(', ')}, separated by commas.`);
}

/** `, for render and check only, until 2027-01-31 23:59:59Z`; empty without limits. */
function shownLimits({ scopes, expiresAt }: KeyInfo): string {
  const uses = scopes.length < KEY_SCOPES.length ? `, for ${scopes.join(' and ')} only` : '';
  return expiresAt === null ? uses : `${uses}, until ${shownTime(expiresAt)}`;
}
