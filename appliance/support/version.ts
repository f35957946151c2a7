/** The version of this program. A constant, because the packed program has no `package.json` beside it. */
export const VERSION = '0.1.0';
