import type { Texts } from '../en/index.ts';

export const signIn: Texts['signIn'] = {
  title: 'Anmelden',
  sessionEnded: 'Ihre Sitzung ist beendet. Melden Sie sich erneut an.',
  formNotSent:
    'Ihre Sitzung ist beendet; das Formular wurde deshalb nicht gesendet. Melden Sie sich an und senden Sie es erneut.',
  codeExpired: 'Der Code wurde nicht rechtzeitig eingegeben. Melden Sie sich erneut an.',
  wrong: 'Die E-Mail-Adresse oder das Passwort ist falsch.',
  forgotten: 'Vergessen? Bitten Sie einen Administrator um einen Link, mit dem Sie ein neues wählen.',
  code: {
    title: 'Code eingeben',
    text: 'Ihre Authenticator-App zeigt alle 30 Sekunden einen neuen an.',
    code: 'Code der App',
    recoveryText:
      'Einer der Codes, die Sie beim Einrichten der Anmeldung in zwei Schritten aufbewahrt haben. Jeder gilt einmal.',
    recoveryCode: 'Wiederherstellungscode',
    useApp: 'Code der App verwenden',
    useRecoveryCode: 'Wiederherstellungscode verwenden',
    wrong: 'Der Code ist falsch oder wurde schon benutzt. Geben Sie den ein, den die App jetzt anzeigt.',
    lost: 'Beides verloren? Ein Administrator kann die Anmeldung in zwei Schritten zurücksetzen.',
  },
  setUp: {
    title: 'Einrichten',
    welcome: 'Willkommen',
    first:
      'Wählen Sie, womit Sie sich anmelden. Der API-Schlüssel, der beim Start ausgegeben wurde, gehört zu demselben Konto.',
    invited: 'Wählen Sie ein Passwort. Sie melden sich mit dieser Adresse an.',
    passwordHint: 'mindestens 10 Zeichen',
    submit: 'Einrichten und anmelden',
    ask: 'Bitten Sie einen Administrator um einen neuen: Er erstellt ihn auf der Seite Ihres Kontos.',
    claimable:
      'Noch kein Konto hat ein Passwort: Auf der Maschine des Dienstes gibt `scenepress setup-link` den richtigen Link aus.',
    expired: 'Dieser Link ist abgelaufen',
    expiredText: (days) => `Links zum Wählen eines Passworts sind ${days} Tage gültig.`,
    invalid: 'Dieser Link ist nicht gültig',
    invalidText:
      'Er wurde bereits benutzt, das Passwort wurde auf andere Weise gesetzt, oder der Link ist unvollständig.',
  },
};
