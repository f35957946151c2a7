import { type Answer, type ErrorStatus, errors } from '../openapi/endpoint.ts';

/** Where this API differs from the render API. */
const DESCRIPTIONS: { readonly [Status in ErrorStatus]?: string } = {
  401: 'Missing, malformed, revoked, expired or unknown key.',
  404: 'It does not exist, belongs to another user, or is no longer kept.',
  413: 'The body is too large: for one scene beyond 1 MiB, for several beyond 8 MiB.',
  429:
    'The account does this too often, has too many waits and streams of events open, or stores too much; `error` says ' +
    'which. Try again after `Retry-After` seconds.',
};

/** The responses with an error of these statuses. */
export function toolErrors(...statuses: ErrorStatus[]): Record<number, Answer> {
  return Object.fromEntries(
    Object.entries(errors(...statuses)).map(([status, answer]) => {
      const description = DESCRIPTIONS[Number(status) as ErrorStatus] ?? answer.description;
      return [status, { ...answer, description }];
    }),
  );
}
