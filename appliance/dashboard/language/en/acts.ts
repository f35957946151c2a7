import { actLabel } from '../../../admin/operations.ts';

/** The record of acts. */
export const acts = {
  title: 'Record',
  lead: 'Who did what, when and from where: in the dashboard and on the command line. Entries are never changed.',
  none: 'Nothing recorded',
  noneText: 'Sign-ins and changes are listed here.',
  what: 'What',
  who: 'Who',
  to: 'To',
  from: 'From',
  commandLine: 'command line',
  deleted: 'deleted',
  /** What is left of an object without a name. */
  gone: { jobs: 'Forgotten', deliveries: 'Webhook' } as Readonly<Record<string, string>>,
  /** What an actor did. */
  label: (action: string): string => actLabel(action),
};
