import type { Texts } from '../en/index.ts';

export const twoFactor: Texts['twoFactor'] = {
  title: 'Anmeldung in zwei Schritten',
  on: 'ein',
  off: 'aus',
  text: 'Zur Anmeldung gehört dann auch ein Code einer App auf Ihrem Telefon. API-Schlüssel gelten wie bisher.',
  setUp: 'Einrichten',
  change: 'Ändern',
  setUpText:
    'Scannen Sie den Code mit einer Authenticator-App, oder tippen Sie seinen Text ein. Geben Sie dann Ihr Passwort und die sechs Ziffern ein, die die App anzeigt.',
  qrCode: 'QR-Code für eine Authenticator-App',
  secret: 'Geheimnis, für Apps, die nicht scannen können',
  codeOfApp: 'Code der App',
  anyCode: 'Code der App oder ein Wiederherstellungscode',
  turnOn: 'Einschalten',
  turnedOn: 'Die Anmeldung in zwei Schritten ist eingeschaltet. Andere Browser sind abgemeldet.',
  recoveryCodes: 'Wiederherstellungscodes',
  keepCodes:
    'Jeder meldet Sie einmal an, anstelle eines Codes der App. Bewahren Sie sie dort auf, wo Sie sie ohne Ihr Telefon finden.',
  onceOnly: 'Nur jetzt sichtbar',
  download: 'Als Text herunterladen',
  noCodes: 'Wiederherstellungscodes werden nur einmal angezeigt. Erstellen Sie neue.',
  codesLeft: (count) =>
    count === 1 ? '1 Wiederherstellungscode ist übrig.' : `${count} Wiederherstellungscodes sind übrig.`,
  codesText: 'Neue ersetzen sie.',
  renewCodes: 'Neue Wiederherstellungscodes erstellen',
  codesRenewed: 'Die bisherigen Wiederherstellungscodes gelten nicht mehr.',
  turnOff: 'Ausschalten',
  turnOffText: 'Sie melden sich dann allein mit dem Passwort an. Andere Browser werden abgemeldet.',
  turnedOff: 'Die Anmeldung in zwei Schritten ist ausgeschaltet. Andere Browser sind abgemeldet.',
};
