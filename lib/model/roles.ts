/** The roles of a service process. */
export const ROLES = ['api', 'worker', 'sender', 'upkeep'] as const;
/**
 * | role | task |
 * |---|---|
 * | `api` | accepts, cancels and lists jobs |
 * | `worker` | renders, and lists scenes (`scenesOf`) |
 * | `sender` | sends outcomes to webhooks |
 * | `upkeep` | requeues jobs of dead workers, audits the ledger, removes old artifacts and requests |
 */
export type Role = (typeof ROLES)[number];
