import { Command } from 'commander';
import type { Delivery, DeliveryDetails } from '../../lib/index.ts';
import { configOf } from './config-flags.ts';
import { addExamples, administrative } from './describe.ts';
import { wholeNumber } from './job.ts';
import { print, printable, printDetails, printJson, printTable, shownTime } from './output.ts';
import { withAdministration } from './with-administration.ts';

type Flags = { json?: boolean } & Record<string, unknown>;

interface ListFlags extends Flags {
  account?: string;
  job?: string;
  limit?: number;
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
      .option('--limit <number>', 'maximum number of deliveries (default: 50)', wholeNumber)
      .action(async (flags: ListFlags) => {
        const { account, job: jobId, limit } = flags;
        const deliveries = await withAdministration(configOf(flags), (admin) =>
          admin.deliveries.list({ account, jobId, limit }),
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

  return delivery;
}

function show(delivery: DeliveryDetails): void {
  const { deliveryId, jobId, event, url, status, repeats, attempts, nextAttemptAt, answer } = delivery;
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
  if (answer) print(`\n${printable(answer)}`);
}

/** `500`, `0 refused`; empty before the first attempt has ended. */
function lastOf({ attempts, lastStatus }: Delivery): string {
  if (lastStatus === null) return '';
  const reason = attempts.findLast(({ endedAt }) => endedAt !== null)?.reason;
  return reason ? `${lastStatus} ${reason}` : String(lastStatus);
}
