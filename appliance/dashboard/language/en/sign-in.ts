/** Signing in, and choosing a password. */
export const signIn = {
  title: 'Sign in',
  sessionEnded: 'Your session has ended. Sign in again.',
  formNotSent: 'Your session has ended, so the form was not sent. Sign in, then send it again.',
  codeExpired: 'The code was not given in time. Sign in again.',
  wrong: 'The e-mail address or the password is wrong.',
  forgotten: 'Forgotten? Ask an administrator for a link to choose a new one.',
  /** The second step. */
  code: {
    title: 'Enter the code',
    text: 'Your authenticator app shows a new one every 30 seconds.',
    code: 'Code of the app',
    recoveryText: 'One of those that you kept when you set up two-factor sign-in. Each works once.',
    recoveryCode: 'Recovery code',
    useApp: 'Use the code of the app',
    useRecoveryCode: 'Use a recovery code',
    wrong: 'The code is wrong or was already used. Enter the one that the app shows now.',
    lost: 'Lost both? An administrator can reset two-factor sign-in.',
  },
  setUp: {
    title: 'Set up',
    welcome: 'Welcome',
    first: 'Choose how you sign in. The API key that was printed at the start belongs to the same account.',
    invited: 'Choose a password. You sign in with this address.',
    passwordHint: 'at least 10 characters',
    submit: 'Set up and sign in',
    ask: 'Ask an administrator for another: they make it on the page of your account.',
    claimable:
      'No account has a password yet: on the machine of the service, `scenepress setup-link` prints the right one.',
    expired: 'This link has expired',
    expiredText: (days: number): string => `Links for choosing a password are valid for ${days} days.`,
    invalid: "This link isn't valid",
    invalidText: 'It was used already, the password was set in another way, or the link is incomplete.',
  },
};
