import type { Duplex } from 'node:stream';
import type { FailureReason } from './delivery.ts';

/** What of an exchange has happened so far, so that it can be told however it ends. */
export interface ExchangeState {
  status: number;
  answer: Buffer[];
  sent: boolean;
  /** Hung up on at the end. */
  sockets: Duplex[];
}

/** An exchange did not come to its end. */
export class ExchangeFailure extends Error {
  readonly reason: FailureReason;

  constructor(reason: FailureReason, message: string) {
    super(message);
    this.reason = reason;
  }
}
