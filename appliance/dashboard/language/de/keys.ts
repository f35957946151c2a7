import type { Texts } from '../en/index.ts';

export const keys: Texts['keys'] = {
  title: 'Schlüssel',
  lead: 'API-Schlüssel weisen Programme aus. Ihre Webhook-Geheimnisse signieren die Ergebnisse, die Ihnen gesendet werden.',
  webhookChanged: 'Der Standard-Webhook wurde geändert. Er gilt ab jetzt für neue Renderings.',
  wasRevoked: 'Der Schlüssel wurde widerrufen. Anfragen mit ihm werden ab jetzt abgelehnt.',
  shownOnce:
    'Der Schlüssel und das Geheimnis werden nur einmal angezeigt. Kopieren Sie beide jetzt: Sie werden nicht lesbar gespeichert.',
  rotated:
    'Das neue Geheimnis signiert ab jetzt Webhooks. Es wird nur einmal angezeigt: Kopieren Sie es jetzt.',
  noneYet: 'Noch keine Schlüssel',
  noneYetText:
    'Programme rendern mit einem API-Schlüssel. Erstellen Sie für jedes Programm einen eigenen, damit Sie sie einzeln widerrufen können.',
  nameAndKey: 'Name und Schlüssel',
  scopes: 'Berechtigungen',
  defaultWebhook: 'Standard-Webhook',
  lastUsed: 'Zuletzt benutzt',
  until: 'bis {time}',
  states: { live: 'Gültig', expired: 'Abgelaufen', revoked: 'Widerrufen' },
  forAccount: (account) => `Für das Konto ${account}.`,
  nameHint: 'was ihn benutzt, zum Beispiel „Vorlesungsseite“',
  webhookUrl: 'Standard-URL für Webhooks',
  webhookUrlHint:
    'optional: wohin Ergebnisse gesendet werden, wenn eine Anfrage kein anderes Ziel nennt, https://…',
  scopesHint: 'wofür er benutzt werden darf',
  scopeHints: {
    render: 'Renderings erstellen und ihr Ergebnis lesen',
    check: 'Szenen prüfen lassen',
    read: 'das Ergebnis von Renderings lesen',
  },
  expiresHint: 'optional: der letzte Tag, an dem er angenommen wird, bis Mitternacht UTC',
  apiKey: 'API-Schlüssel',
  secretLabel: 'Webhook-Geheimnis, zum Prüfen von Signaturen',
  firstScene: 'Eine erste Szene rendern',
  all: 'Alle Schlüssel',
  keyId: 'Schlüssel-ID',
  revoked: 'Widerrufen',
  webhookText: 'An diese Adresse werden Ergebnisse gesendet, wenn eine Anfrage keine andere nennt.',
  url: 'URL',
  urlHint: 'https://…; leer für keine',
  secret: 'Webhook-Geheimnis',
  secretText:
    'Ersetzt das Geheimnis sofort. Webhooks, die danach gesendet werden, auch wiederholte, werden mit dem neuen signiert.',
  rotate: 'Geheimnis erneuern',
  revoke: 'Widerrufen',
  revokeText:
    'Programme, die den Schlüssel benutzen, werden sofort abgelehnt. Angenommene Renderings laufen weiter. Das lässt sich nicht rückgängig machen.',
  revokeThis: 'Diesen Schlüssel widerrufen …',
  revokeTitle: 'Schlüssel widerrufen',
  revokeQuestion:
    '{name} ({prefix}) widerrufen? Anfragen mit ihm werden sofort abgelehnt, und er kann nie wieder benutzt werden.',
};
