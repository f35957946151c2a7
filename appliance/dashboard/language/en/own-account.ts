export const ownAccount = {
  title: 'Account',
  storedHint: 'videos, sources and metadata; forgetting jobs frees space',
  changePassword: 'Change password',
  current: 'Current password',
  chosen: 'New password',
  passwordHint: 'at least 10 characters',
  passwordChanged: 'The password was changed. Other browsers are signed out.',
  sessions: 'Sessions',
  sessionsText:
    'A session ends seven days after its last use. Signing out everywhere ends those of all browsers, this one included.',
  signOutEverywhere: 'Sign out everywhere',
  languageText: 'The language of the dashboard in this browser.',
};
