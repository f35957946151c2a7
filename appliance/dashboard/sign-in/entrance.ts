import type { Account } from '../../../lib/index.ts';
import type { PublicVisit } from '../route.ts';
import type { RouteParts } from '../routes.ts';
import { browserOf } from './browser.ts';
import type { Origin } from './sessions.ts';

/** How people come in once they have proved that an account is theirs. */
export class Entrance {
  readonly #parts: Pick<
    RouteParts,
    'accounts' | 'addressOf' | 'cookies' | 'devices' | 'secondStep' | 'sessions'
  >;

  constructor(parts: RouteParts) {
    this.#parts = parts;
  }

  /**
   * Begins a session. False if the account was disabled or its password or second factor changed since it was read:
   * then only older sessions were ended.
   */
  async enter({ request, h }: Pick<PublicVisit, 'request' | 'h'>, account: Account): Promise<boolean> {
    const { accounts, cookies, devices, sessions } = this.#parts;
    const session = await sessions.begin(account.accountId, this.originOf(request));
    const now = await accounts.find(account.accountId).catch(() => undefined);
    const isSame =
      now?.passwordHash === account.passwordHash && now?.totpSecretSealed === account.totpSecretSealed;
    if (!isSame || now?.disabledAtMs !== undefined) {
      await sessions.end(session);
      return false;
    }
    cookies.setSession(request, h, { session, device: devices.tokenFor(account) });
    return true;
  }

  /** Notes in the browser that the code of the account is to be given next. */
  askForCode({ request, h, csrf }: PublicVisit, account: Account): void {
    const { cookies, secondStep } = this.#parts;
    cookies.setSecondStep(request, h, secondStep.tokenFor(account, csrf));
  }

  originOf(request: PublicVisit['request']): Origin {
    return {
      browser: browserOf(String(request.headers['user-agent'] ?? '')),
      address: this.#parts.addressOf(request),
    };
  }
}
