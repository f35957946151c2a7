import type { Administration } from './administration.ts';

/** An operation of the administration. */
export interface Operation {
  /**
   * On what a member may carry it out, as named by the request: its own `account` (also when the request names none),
   * a `key`, `job` or `delivery` of it, or anything.
   */
  members: 'account' | 'key' | 'job' | 'delivery' | 'anything' | 'nothing';
  /** Whether it is recorded as an act. */
  isAct: boolean;
}

const reads = (members: Operation['members']): Operation => ({ members, isAct: false });
const acts = (members: Operation['members']): Operation => ({ members, isAct: true });

/** All operations. Complete by its type: an operation without an entry doesn't compile. */
export const OPERATIONS: {
  [Noun in keyof Administration]: { [Name in keyof Administration[Noun]]: Operation };
} = {
  accounts: {
    create: acts('nothing'),
    list: reads('nothing'),
    show: reads('account'),
    disable: acts('nothing'),
    enable: acts('nothing'),
    delete: acts('nothing'),
    setPassword: acts('nothing'),
    changePassword: acts('account'),
    setRole: acts('nothing'),
    setLimits: acts('nothing'),
    storedBytes: reads('account'),
    showSetupLink: reads('nothing'),
    invite: acts('nothing'),
  },
  keys: {
    create: acts('account'),
    list: reads('account'),
    show: reads('key'),
    revoke: acts('key'),
    rotateSecret: acts('key'),
    setWebhook: acts('key'),
  },
  deliveries: {
    list: reads('account'),
    show: reads('delivery'),
    sendAgain: acts('delivery'),
    sendFailedAgain: acts('account'),
    sendTest: acts('key'),
  },
  queue: { show: reads('anything'), pause: acts('nothing'), resume: acts('nothing') },
  jobs: {
    list: reads('account'),
    search: reads('account'),
    count: reads('account'),
    show: reads('job'),
    showDetails: reads('job'),
    cancel: acts('job'),
    forget: acts('job'),
    renderAgain: acts('job'),
    render: acts('account'),
    listScenes: reads('account'),
  },
  credits: {
    grant: acts('nothing'),
    takeBack: acts('nothing'),
    balance: reads('account'),
    statement: reads('account'),
    history: reads('account'),
    spending: reads('account'),
    showPrices: reads('anything'),
    audit: reads('nothing'),
  },
  machines: { list: reads('nothing'), drain: acts('nothing'), forget: acts('nothing') },
  acts: { list: reads('nothing') },
  data: {
    backUp: acts('nothing'),
    rotateMasterKey: acts('nothing'),
    completeRotation: acts('nothing'),
    showCounts: reads('nothing'),
    showService: reads('nothing'),
    showPlace: reads('nothing'),
    examine: reads('nothing'),
    showMetrics: reads('nothing'),
  },
};
