import type { Administration } from './administration.ts';

/** An operation of the administration. */
export interface Operation {
  /**
   * On what a member may carry it out, as named by the request: its own `account` (also when the request names none),
   * a `key`, `job`, `file`, `scene`, `share`, `assignment`, `classLink` or `delivery` of it, or anything.
   */
  members:
    | 'account'
    | 'key'
    | 'job'
    | 'file'
    | 'scene'
    | 'share'
    | 'assignment'
    | 'classLink'
    | 'delivery'
    | 'anything'
    | 'nothing';
  /** Whether it is recorded as an act. */
  isAct: boolean;
  /** What the actor did, for people. */
  label?: string;
  /** Whether its request or answer has a stream, which the command line can't send or receive. */
  hasStream?: boolean;
}

const reads = (members: Operation['members']): Operation => ({ members, isAct: false });
const acts = (members: Operation['members'], label: string): Operation => ({ members, isAct: true, label });

/** What an actor did, for people: acts of {@link OPERATIONS}, and those around signing in. */
export function actLabel(action: string): string {
  const [noun = '', name = ''] = action.split('.');
  const operations = OPERATIONS as Record<string, Record<string, Operation>>;
  return operations[noun]?.[name]?.label ?? OTHER_ACTS[action] ?? action;
}

const OTHER_ACTS: Record<string, string> = {
  'sign-in': 'Signed in',
  'sign-in.failed': 'Failed to sign in',
  'sign-in.recoveryCode': 'Signed in with a recovery code',
  'sign-in.wrongCode': 'Gave a wrong code when signing in',
  'sign-out.everywhere': 'Signed out everywhere',
  'sign-out.others': 'Signed out other browsers',
  'sign-out.session': 'Signed out a browser',
  'accounts.claim': 'Claimed the first account',
  'accounts.acceptInvitation': 'Chose a password',
  'classLinks.join': 'Joined a class',
};

/** All operations. Complete by its type: an operation without an entry doesn't compile. */
export const OPERATIONS: {
  [Noun in keyof Administration]: { [Name in keyof Administration[Noun]]: Operation };
} = {
  accounts: {
    create: acts('nothing', 'Created an account'),
    list: reads('nothing'),
    show: reads('account'),
    disable: acts('nothing', 'Disabled an account'),
    enable: acts('nothing', 'Enabled an account'),
    delete: acts('nothing', 'Deleted an account'),
    setPassword: acts('nothing', 'Set a password'),
    changePassword: acts('account', 'Changed the password'),
    setRole: acts('nothing', 'Changed a role'),
    setLimits: acts('nothing', 'Changed limits'),
    setIdentity: acts('nothing', 'Changed whose access tokens act for an account'),
    storedBytes: reads('account'),
    showSetupLink: reads('nothing'),
    invite: acts('nothing', 'Made a password link'),
  },
  twoFactor: {
    offer: reads('account'),
    turnOn: acts('account', 'Turned on two-factor sign-in'),
    renewCodes: acts('account', 'Renewed recovery codes'),
    turnOff: acts('account', 'Turned off two-factor sign-in'),
    reset: acts('nothing', 'Reset two-factor sign-in'),
  },
  keys: {
    create: acts('account', 'Created a key'),
    list: reads('account'),
    show: reads('key'),
    revoke: acts('key', 'Revoked a key'),
    rotateSecret: acts('key', 'Rotated a webhook secret'),
    setWebhook: acts('key', 'Changed a default webhook'),
  },
  deliveries: {
    list: reads('account'),
    show: reads('delivery'),
    sendAgain: acts('delivery', 'Sent a webhook again'),
    sendNow: acts('delivery', 'Sent a waiting webhook now'),
    giveUp: acts('delivery', 'Gave up a webhook'),
    sendFailedAgain: acts('account', 'Sent failed webhooks again'),
    sendTest: acts('key', 'Sent a test event'),
  },
  queue: {
    show: reads('anything'),
    pause: acts('nothing', 'Paused the queue'),
    resume: acts('nothing', 'Resumed the queue'),
  },
  jobs: {
    list: reads('account'),
    search: reads('account'),
    find: reads('account'),
    labels: reads('account'),
    count: reads('account'),
    show: reads('job'),
    listUsing: reads('file'),
    showDetails: reads('job'),
    cancel: acts('job', 'Canceled a job'),
    forget: acts('job', 'Forgot a job'),
    relabel: acts('job', 'Changed labels of a job'),
    renderAgain: acts('job', 'Rendered a job again'),
    render: acts('account', 'Rendered a scene'),
    listScenes: reads('account'),
    check: reads('account'),
    inspect: reads('account'),
    showPicture: reads('account'),
    read: reads('account'),
  },
  files: {
    list: reads('account'),
    usage: reads('account'),
    show: reads('file'),
    ofJob: reads('job'),
    open: { ...reads('file'), hasStream: true },
    put: { ...acts('account', 'Uploaded a file'), hasStream: true },
    rename: acts('file', 'Renamed a file'),
    remove: acts('file', 'Removed a file'),
  },
  shares: {
    create: acts('account', 'Shared videos'),
    list: reads('account'),
    show: reads('share'),
    update: acts('share', 'Changed a link'),
    revoke: acts('share', 'Revoked a link'),
    remove: acts('share', 'Removed a link'),
  },
  scenes: {
    list: reads('account'),
    usage: reads('account'),
    show: reads('scene'),
    ofJob: reads('job'),
    drafts: reads('scene'),
    draft: reads('scene'),
    versions: reads('scene'),
    version: reads('scene'),
    archive: { ...reads('account'), hasStream: true },
    create: acts('account', 'Kept a scene'),
    save: acts('scene', 'Saved a scene'),
    restore: acts('scene', 'Restored a draft of a scene'),
    rename: acts('scene', 'Renamed a scene'),
    duplicate: acts('scene', 'Copied a scene'),
    remove: acts('scene', 'Removed a scene'),
    render: acts('scene', 'Rendered a version of a scene'),
  },
  assignments: {
    list: reads('account'),
    show: reads('assignment'),
    read: reads('account'),
    ofScene: reads('scene'),
    create: acts('account', 'Gave an assignment'),
    open: acts('account', 'Opened an assignment'),
    revoke: acts('assignment', 'Revoked an assignment'),
    remove: acts('assignment', 'Removed an assignment'),
  },
  classLinks: {
    list: reads('account'),
    show: reads('classLink'),
    create: acts('nothing', 'Made a class link'),
    revoke: acts('classLink', 'Revoked a class link'),
    remove: acts('classLink', 'Removed a class link'),
  },
  credits: {
    grant: acts('nothing', 'Added credits'),
    takeBack: acts('nothing', 'Took credits back'),
    balance: reads('account'),
    statement: reads('account'),
    history: reads('account'),
    spending: reads('account'),
    showPrices: reads('anything'),
    audit: reads('nothing'),
  },
  machines: {
    list: reads('nothing'),
    drain: acts('nothing', 'Drained a machine'),
    forget: acts('nothing', 'Forgot a machine'),
  },
  acts: { list: reads('nothing') },
  data: {
    backUp: acts('nothing', 'Made a backup'),
    rotateMasterKey: acts('nothing', 'Began a rotation of the master key'),
    completeRotation: acts('nothing', 'Completed a rotation of the master key'),
    showCounts: reads('nothing'),
    showService: reads('nothing'),
    showPlace: reads('nothing'),
    examine: reads('nothing'),
    showMetrics: reads('nothing'),
  },
};
