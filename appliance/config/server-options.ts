/** Addresses, connections, webhooks, logs. */
export const SERVER_OPTIONS = {
  host: {
    description: 'Address to listen on; 0.0.0.0 for all',
    type: 'host',
    default: '127.0.0.1',
    commands: ['worker', 'health'],
  },
  port: {
    description: 'Port to listen on; 0 selects a free port',
    type: 'count',
    min: 0,
    max: 65_535,
    default: 8080,
    commands: ['worker', 'health'],
  },
  publicUrl: {
    description: 'URL under which clients reach this service',
    type: 'url',
    otherwise: 'the listening address',
  },
  assetUrl: { description: 'Base URL of links to artifacts', type: 'url', otherwise: 'the public URL' },
  maxConnections: {
    description:
      'Maximum number of open HTTP [connections](#connections); beyond it, new connections replace idle ones',
    type: 'count',
    otherwise: 'as many as the limit of open files permits, at most 10000',
  },
  maxConnectionsPerAddress: {
    description: 'Maximum number of HTTP connections per client (IPv4 address or IPv6 /64 network)',
    type: 'count',
    otherwise: 'half of the maximum; all of it with --trust-proxy',
  },
  webhooksAllowNetworks: {
    description:
      'Private networks that [webhooks](#webhook-deliveries) may reach, e.g. 10.1.0.0/16,fd00::/8; public addresses are always allowed',
    type: 'networks',
    default: [],
  },
  webhooksCa: {
    description: 'File with CA certificates (PEM) that webhooks trust in addition to the well-known ones',
    type: 'file',
  },
  metricsToken: { description: 'Bearer token for reading [/metrics](#metrics)', type: 'token', secret: true },
  drainSeconds: {
    description: 'Grace period for running renders when the service stops',
    type: 'count',
    min: 0,
    unit: 'seconds',
    default: 30,
  },
  probeAfterMinutes: {
    description:
      'Minutes without a finished video before a small probe scene is rendered to check the renderer; 0 for never',
    type: 'amount',
    unit: 'minutes',
    default: 10,
  },
  logLevel: {
    description: 'Minimum level of logged lines',
    type: 'choice',
    of: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    unit: 'level',
    default: 'info',
  },
  logFormat: {
    description: 'Format of [logged lines](#logs): text for people or json for programs',
    type: 'choice',
    of: ['text', 'json'],
    otherwise: 'text on a terminal, otherwise json',
  },
  logFile: {
    description: 'File to append log lines to; reopened when it was moved and on SIGHUP',
    type: 'file',
    mayBeMissing: true,
    otherwise: 'standard error',
  },
} as const;

/** What workers do not serve. */
export const WEB_OPTIONS = {
  tlsCert: {
    description: 'Certificate file for [HTTPS](#tls) (PEM, followed by its intermediate certificates)',
    type: 'file',
    otherwise: 'none (plain HTTP)',
    commands: ['health'],
  },
  tlsKey: { description: 'Private key file of the certificate (PEM)', type: 'file', commands: ['health'] },
  trustProxy: {
    description:
      'Trust X-Forwarded-For and, without a public URL, X-Forwarded-Proto and X-Forwarded-Host of a [proxy](#behind-a-proxy)',
    type: 'switch',
    default: false,
  },
  corsOrigins: {
    description:
      'Origins of web pages that may call the API and MCP (CORS), e.g. https://studio.example; * for all',
    type: 'origins',
    default: [],
  },
  oidcIssuer: {
    description:
      'OpenID Connect issuer whose [access tokens](mcp.md#sign-in-with-an-identity-provider) MCP over HTTP accepts besides API keys, e.g. https://id.example.org/realms/studio',
    type: 'issuer',
    otherwise: 'none: API keys only',
  },
  oidcAudience: {
    description: 'Audience of access tokens for this service: what the issuer writes into their aud',
    type: 'word',
    otherwise: 'the URL of MCP: that of the service with /mcp',
  },
  oidcCa: {
    description:
      'File with CA certificates (PEM) that are trusted for the issuer in addition to the well-known ones',
    type: 'file',
  },
  dashboard: {
    description: 'Whether the [dashboard](README.md#dashboard) is served, at /dashboard',
    type: 'choice',
    of: ['on', 'off'],
    default: 'on',
  },
  adminEmail: {
    description:
      'E-mail address of the first administrator of the dashboard, until an account has a password: of the account with this address, else of the account of the first start, else of a new one',
    type: 'emailAddress',
    otherwise: 'none: the account of the first start is claimed with the set-up link',
  },
  adminPassword: { description: 'Password for SCENEPRESS_ADMIN_EMAIL', type: 'password', secret: true },
  adminPasswordFile: {
    description: 'File with the password for SCENEPRESS_ADMIN_EMAIL',
    type: 'file',
    mayBeMissing: true,
  },
} as const;
