import { Command } from 'commander';
import { ADMINISTRATION_FLAGS, addConfigFlags, configOf } from './config-flags.ts';
import { print, printJson, printTable } from './output.ts';
import { withAdministration } from './with-administration.ts';

interface CreateFlags extends Record<string, unknown> {
  account: string;
  name: string;
  webhookUrl?: string;
  json?: boolean;
}

/** `scenepress key …` */
export function keyCommand(): Command {
  const key = new Command('key').description('API keys');

  addConfigFlags(key.command('create'), ADMINISTRATION_FLAGS)
    .description('Make a key; it is shown this once')
    .requiredOption('--account <email>', 'account that it belongs to')
    .requiredOption('--name <name>', 'what it is for')
    .option('--webhook-url <url>', 'where outcomes of its jobs go when a request does not say (https://)')
    .option('--json', 'print JSON')
    .action(async (flags: CreateFlags) => {
      const { account, name, webhookUrl } = flags;
      const made = await withAdministration(configOf(flags), (office) =>
        office.createKey({ account, name, webhookUrl }),
      );
      if (flags.json) return printJson(made);
      print(`Key ${made.keyId} ("${made.name}") of ${made.account}. Neither of these is shown again:\n`);
      print(`  API key         ${made.key}`);
      print(`  Webhook secret  ${made.webhookSecret}`);
    });

  addConfigFlags(key.command('list'), ADMINISTRATION_FLAGS)
    .description('List keys')
    .option('--account <email>', 'only of this account')
    .option('--json', 'print JSON')
    .action(async (flags: { account?: string; json?: boolean } & Record<string, unknown>) => {
      const { account } = flags;
      const keys = await withAdministration(configOf(flags), (office) => office.listKeys({ account }));
      if (flags.json) return printJson(keys);
      printTable(
        ['KEY ID', 'KEY', 'NAME', 'ACCOUNT', 'CREATED', 'REVOKED'],
        keys.map((key) => [
          key.keyId,
          `${key.keyPrefix}…`,
          key.name,
          key.account,
          key.createdAt,
          key.revokedAt ?? '-',
        ]),
      );
    });

  addConfigFlags(key.command('revoke <keyId>'), ADMINISTRATION_FLAGS)
    .description('Revoke a key, at once and for good')
    .option('--json', 'print JSON')
    .action(async (keyId: string, flags: Record<string, unknown>) => {
      const revoked = await withAdministration(configOf(flags), (office) => office.revokeKey({ keyId }));
      if (flags['json']) printJson(revoked);
      else print(`Key ${keyId} is revoked.`);
    });

  addConfigFlags(key.command('rotate-secret <keyId>'), ADMINISTRATION_FLAGS)
    .description('Replace the webhook secret of a key, at once; it is shown this once')
    .option('--json', 'print JSON')
    .action(async (keyId: string, flags: Record<string, unknown>) => {
      const rotated = await withAdministration(configOf(flags), (office) => office.rotateSecret({ keyId }));
      if (flags['json']) return printJson(rotated);
      print(`Webhooks of key ${keyId} are signed with this secret from now on. It is not shown again:\n`);
      print(`  Webhook secret  ${rotated.webhookSecret}`);
    });

  addConfigFlags(key.command('set-webhook <keyId> <url>'), ADMINISTRATION_FLAGS)
    .description('Set where outcomes of jobs to come go when a request does not say: https://…, or "none"')
    .option('--json', 'print JSON')
    .action(async (keyId: string, url: string, flags: Record<string, unknown>) => {
      const webhookUrl = url === 'none' ? null : url;
      const set = await withAdministration(configOf(flags), (office) =>
        office.setWebhook({ keyId, webhookUrl }),
      );
      if (flags['json']) printJson(set);
      else print(`Outcomes of key ${keyId} go ${set.webhookUrl ? `to ${set.webhookUrl}` : 'nowhere'}.`);
    });

  return key;
}
