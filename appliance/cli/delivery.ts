import { Command } from 'commander';
import type { Delivery, DeliveryDetails } from '../../lib/index.ts';
import { ADMINISTRATION_FLAGS, addConfigFlags, configOf } from './config-flags.ts';
import { print, printJson, printTable } from './output.ts';
import { withAdministration } from './with-administration.ts';

interface ListFlags extends Record<string, unknown> {
  account?: string;
  job?: string;
  limit?: string;
  json?: boolean;
}

/** `scenepress delivery …` */
export function deliveryCommand(): Command {
  const delivery = new Command('delivery').description('Outcomes sent to webhooks');

  addConfigFlags(delivery.command('list'), ADMINISTRATION_FLAGS)
    .description('List deliveries, newest first')
    .option('--account <email>', 'only of this account')
    .option('--job <jobId>', 'only of this job')
    .option('--limit <number>', 'at most so many (default: 50)')
    .option('--json', 'print JSON')
    .action(async (flags: ListFlags) => {
      const { account, job: jobId } = flags;
      const limit = flags.limit === undefined ? undefined : Number(flags.limit);
      const deliveries = await withAdministration(configOf(flags), (office) =>
        office.listDeliveries({ account, jobId, limit }),
      );
      if (flags.json) return printJson(deliveries);
      printTable(
        ['DELIVERY ID', 'EVENT', 'STATUS', 'ATTEMPTS', 'LAST', 'NEXT', 'URL'],
        deliveries.map((delivery) => [
          delivery.deliveryId,
          delivery.event,
          delivery.status,
          String(delivery.attempts.length),
          lastOf(delivery),
          delivery.nextAttemptAt ?? '-',
          delivery.url,
        ]),
      );
    });

  addConfigFlags(delivery.command('show <deliveryId>'), ADMINISTRATION_FLAGS)
    .description('Show a delivery with its attempts and what the receiver answered')
    .option('--json', 'print JSON')
    .action(async (deliveryId: string, flags: Record<string, unknown>) => {
      const found = await withAdministration(configOf(flags), (office) =>
        office.showDelivery({ deliveryId }),
      );
      if (flags['json']) printJson(found);
      else show(found);
    });

  addConfigFlags(delivery.command('send-again <deliveryId>'), ADMINISTRATION_FLAGS)
    .description('Send the same outcome to the same URL once more, as a delivery of its own')
    .option('--json', 'print JSON')
    .action(async (deliveryId: string, flags: Record<string, unknown>) => {
      const again = await withAdministration(configOf(flags), (office) => office.sendAgain({ deliveryId }));
      if (flags['json']) printJson(again);
      else print(`Delivery ${again.deliveryId} is made. It goes out at once, or when the server is started.`);
    });

  return delivery;
}

function show(delivery: DeliveryDetails): void {
  const { deliveryId, jobId, event, url, status, repeats, attempts, nextAttemptAt, answer } = delivery;
  print(`Delivery  ${deliveryId}${repeats === null ? '' : ` (sends ${repeats} again)`}`);
  print(`Job       ${jobId}, ${event}`);
  print(`URL       ${url}`);
  print(`Status    ${status}${nextAttemptAt === null ? '' : `, next attempt at ${nextAttemptAt}`}`);
  for (const { startedAt, endedAt, status, reason, detail } of attempts) {
    const outcome = endedAt === null ? 'under way' : `${status}${reason ? ` ${reason}: ${detail}` : ''}`;
    print(`Attempt   ${startedAt}  ${printable(outcome)}`);
  }
  if (answer) print(`\n${printable(answer)}`);
}

/** `500`, `0 refused`; `-` before the first attempt has ended. */
function lastOf({ attempts, lastStatus }: Delivery): string {
  if (lastStatus === null) return '-';
  const reason = attempts.findLast(({ endedAt }) => endedAt !== null)?.reason;
  return reason ? `${lastStatus} ${reason}` : String(lastStatus);
}

/** A receiver's words must not steer the terminal. */
function printable(text: string): string {
  return text.replace(/[^\P{C}\n\t]/gu, '·');
}
