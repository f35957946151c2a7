import { Command, Option } from 'commander';
import type { Delivery } from '../../lib/index.ts';
import type { DeliveryDetails, DeliveryState, WebhookTest } from '../../lib/internal.ts';
import { DELIVERY_STATES } from '../admin/administration-requests.ts';
import { withAdministration } from '../runtime/with-administration.ts';
import { configOf } from './config-flags.ts';
import { addExamples, administrative } from './describe.ts';
import { print, printable, printDetails, printJson, printTable, shownTime } from './output.ts';
import { wholeNumber } from './whole-number.ts';

type Flags = { json?: boolean } & Record<string, unknown>;

interface ListFlags extends Flags {
  account?: string;
  job?: string;
  key?: string;
  state?: DeliveryState;
  limit?: number;
  before?: string;
}

/** `scenepress delivery …` */
export function deliveryCommand(): Command {
  const delivery = new Command('delivery').description('Outcomes sent to webhooks');
  addExamples(delivery, 'scenepress delivery list --job JOBID', 'scenepress delivery send-again DELIVERYID');

  delivery.addCommand(
    administrative(
      'list',
      'List deliveries, newest first',
      'scenepress delivery list --account ada@example.org --limit 10',
    )
      .option('--account <account>', 'only deliveries for this account: e-mail address or user id')
      .option('--job <jobId>', 'only deliveries of this job')
      .option('--key <keyId>', 'only deliveries that are signed with the secret of this key')
      .addOption(new Option('--state <state>', 'only deliveries in this state').choices(DELIVERY_STATES))
      .option('--before <deliveryId>', 'only deliveries older than this one')
      .option('--limit <number>', 'maximum number of deliveries (default: 50)', wholeNumber)
      .action(async (flags: ListFlags) => {
        const { account, job: jobId, key: keyId, state, limit, before } = flags;
        const deliveries = await withAdministration(configOf(flags), (admin) =>
          admin.deliveries.list({ account, jobId, keyId, state, limit, before }),
        );
        if (flags.json) return printJson(deliveries);
        printTable(
          ['DELIVERY ID', 'STATUS', 'EVENT', 'ATTEMPTS', 'LAST', 'NEXT', 'URL'],
          deliveries.map((delivery) => [
            delivery.deliveryId,
            delivery.status,
            delivery.event,
            String(delivery.attempts.length),
            lastOf(delivery),
            shownTime(delivery.nextAttemptAt),
            delivery.url,
          ]),
        );
      }),
  );

  delivery.addCommand(
    administrative(
      'show <deliveryId>',
      'Show a delivery with its attempts and the response of the receiver',
      'scenepress delivery show DELIVERYID',
    ).action(async (deliveryId: string, flags: Flags) => {
      const found = await withAdministration(configOf(flags), (admin) =>
        admin.deliveries.show({ deliveryId }),
      );
      if (flags.json) printJson(found);
      else show(found);
    }),
  );

  delivery.addCommand(
    administrative(
      'send-again <deliveryId>',
      'Send the same outcome to the same URL again, as a new delivery',
      'scenepress delivery send-again DELIVERYID',
    ).action(async (deliveryId: string, flags: Flags) => {
      const again = await withAdministration(configOf(flags), (admin) =>
        admin.deliveries.sendAgain({ deliveryId }),
      );
      if (flags.json) printJson(again);
      else print(`Created delivery ${again.deliveryId}. It is sent immediately, or when the server starts.`);
    }),
  );

  delivery.addCommand(
    administrative(
      'send-now <deliveryId>',
      'Send a waiting delivery now, instead of after its delay',
      'scenepress delivery send-now DELIVERYID',
    ).action(async (deliveryId: string, flags: Flags) => {
      const sent = await withAdministration(configOf(flags), (admin) =>
        admin.deliveries.sendNow({ deliveryId }),
      );
      if (flags.json) printJson(sent);
      else print(`Delivery ${deliveryId} is sent immediately, or when the server starts.`);
    }),
  );

  delivery.addCommand(
    administrative(
      'give-up <deliveryId>',
      'Make no further attempt of a waiting delivery',
      'scenepress delivery give-up DELIVERYID',
    ).action(async (deliveryId: string, flags: Flags) => {
      const ended = await withAdministration(configOf(flags), (admin) =>
        admin.deliveries.giveUp({ deliveryId }),
      );
      if (flags.json) printJson(ended);
      else print(`Delivery ${deliveryId} has failed: it is not sent any more.`);
    }),
  );

  delivery.addCommand(
    administrative(
      'send-failed-again',
      'Send all failed deliveries since a time again, at most 1000; those that were sent again are left out',
      'scenepress delivery send-failed-again --since 2026-11-22T18:30:00Z',
      'scenepress delivery send-failed-again --account ada@example.org --since 2026-11-22 --until 2026-11-23',
    )
      .requiredOption('--since <time>', 'when the first of them was created')
      .option('--until <time>', 'only deliveries created before this time (default: now)')
      .option('--account <account>', 'only deliveries for this account: e-mail address or user id')
      .option('--key <keyId>', 'only deliveries that are signed with the secret of this key')
      .action(async (flags: Flags & { since: string; until?: string; account?: string; key?: string }) => {
        const { since, until, account, key: keyId } = flags;
        const result = await withAdministration(configOf(flags), (admin) =>
          admin.deliveries.sendFailedAgain({ since, until, account, keyId }),
        );
        if (flags.json) return printJson(result);
        print(`Created ${result.sent === 1 ? '1 delivery' : `${result.sent} deliveries`}.`);
        if (!result.isComplete) print('There may be more: repeat the command for the rest.');
      }),
  );

  delivery.addCommand(
    administrative(
      'test <keyId> [url]',
      'Send a test event, signed with the secret of a key, and show how a receiver verifies it; exit code 1 if it fails',
      'scenepress delivery test KEYID',
      'scenepress delivery test KEYID https://example.org/hook',
    ).action(async (keyId: string, url: string | undefined, flags: Flags) => {
      const sent = await withAdministration(configOf(flags), (admin) =>
        admin.deliveries.sendTest({ keyId, url }),
      );
      if (flags.json) printJson(sent);
      else showTest(sent);
      if (sent.reason !== null || sent.status < 200 || sent.status >= 300) process.exitCode = 1;
    }),
  );

  return delivery;
}

function show(delivery: DeliveryDetails): void {
  const { deliveryId, jobId, event, url, status, repeats, attempts, nextAttemptAt } = delivery;
  printDetails([
    ['Delivery', `${deliveryId}${repeats === null ? '' : ` (sends ${repeats} again)`}`],
    ['Job', `${jobId}, ${event}`],
    ['URL', url],
    ['Status', `${status}${nextAttemptAt === null ? '' : `, next attempt at ${shownTime(nextAttemptAt)}`}`],
    ...attempts.map(({ startedAt, endedAt, status, reason, detail }): [string, string] => {
      const outcome = endedAt === null ? 'in progress' : `${status}${reason ? ` ${reason}: ${detail}` : ''}`;
      return ['Attempt', `${shownTime(startedAt)}  ${outcome}`];
    }),
  ]);
  const answer = attempts.findLast(({ answer }) => answer !== null)?.answer;
  if (answer) print(`\n${printable(answer)}`);
}

function showTest({ url, headers, body, verification, ...answer }: WebhookTest): void {
  const { timestamp, signature, computed, verdict } = verification;
  const { status, reason, detail, tookMs } = answer;
  printDetails([
    ['URL', url],
    ...Object.entries(headers).map(([name, value]): [string, string] => ['Header', `${name}: ${value}`]),
    ['Body', body],
    ['Time t', timestamp],
    ['Signature v1', signature],
    ['Signed text', `${timestamp}.${body}`],
    ['HMAC-SHA256', `${computed}${computed === signature ? ', equal to v1' : ', different from v1'}`],
    ['Verified', verdict.valid ? 'valid' : verdict.message],
    ['Answer', `${status}${reason === null ? '' : ` ${reason}: ${detail}`} after ${tookMs} ms`],
  ]);
  if (answer.answer) print(`\n${printable(answer.answer)}`);
}

/** `500`, `0 refused`; empty before the first attempt has ended. */
function lastOf({ attempts, lastStatus }: Delivery): string {
  if (lastStatus === null) return '';
  const reason = attempts.findLast(({ endedAt }) => endedAt !== null)?.reason;
  return reason ? `${lastStatus} ${reason}` : String(lastStatus);
}
