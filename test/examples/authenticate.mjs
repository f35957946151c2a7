/** Your own accounts: who a token belongs to, or null. */
export function authenticate(token) {
  if (token !== 'secret-of-ada') return null;
  return { owner: 'ada', keyId: 'ada-1', keyPrefix: 'secret-of', webhookUrl: null };
}
