import type { Duplex } from 'node:stream';
import type { FailureReason } from './delivery.ts';

/** The state of an exchange, for its result however it ends. */
export interface ExchangeState {
  status: number;
  answer: Buffer[];
  sent: boolean;
  /** Destroyed at the end. */
  sockets: Duplex[];
}

/** Thrown when an exchange fails. */
export class ExchangeFailure extends Error {
  readonly reason: FailureReason;

  constructor(reason: FailureReason, message: string) {
    super(message);
    this.reason = reason;
  }
}
