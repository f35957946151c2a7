/** Two-factor sign-in of one's own account. */
export const twoFactor = {
  title: 'Two-factor sign-in',
  on: 'on',
  off: 'off',
  text: 'Signing in then also needs a code of an app on your phone. API keys work as before.',
  setUp: 'Set up',
  change: 'Change',
  setUpText:
    'Scan the code with an authenticator app, or type its text. Then give your password and the six digits that the app shows.',
  qrCode: 'QR code for an authenticator app',
  secret: 'Secret, for apps that cannot scan',
  codeOfApp: 'Code of the app',
  anyCode: 'Code of the app, or a recovery code',
  turnOn: 'Turn on',
  turnedOn: 'Two-factor sign-in is on. Other browsers are signed out.',
  recoveryCodes: 'Recovery codes',
  keepCodes:
    'Each signs you in once instead of a code of the app. Keep them where you find them without your phone.',
  onceOnly: 'Shown only now',
  download: 'Download as text',
  noCodes: 'Recovery codes are shown once, when they are made. Make new ones.',
  codesLeft: (count: number): string =>
    count === 1 ? '1 recovery code is left.' : `${count} recovery codes are left.`,
  codesText: 'New ones replace them.',
  renewCodes: 'Make new recovery codes',
  codesRenewed: 'The former recovery codes no longer work.',
  turnOff: 'Turn off',
  turnOffText: 'You then sign in with the password alone. Other browsers are signed out.',
  turnedOff: 'Two-factor sign-in is off. Other browsers are signed out.',
};
