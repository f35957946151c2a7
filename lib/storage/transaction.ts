/**
 * An opaque handle on an open transaction. Passed between the stores of one database (jobs, deliveries, ledger), so
 * they commit together.
 */
export interface Transaction {
  /** The storage that it belongs to. */
  readonly store: object;
}

/** How a transaction is run. A storage may ignore it. */
export interface TransactionOptions {
  /**
   * It must not wait behind many others for a connection. Set for what workers do with their claims, which expire when
   * they are not renewed in time.
   */
  isUrgent?: boolean;
}
