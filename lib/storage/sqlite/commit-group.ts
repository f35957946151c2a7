/** A group commit: transactions that are flushed together. */
export class CommitGroup {
  commits = 0;
  /** Called before {@link durable} resolves. */
  readonly listeners: (() => void)[] = [];
  /** Settles for all transactions of the group. */
  readonly durable: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;

  constructor() {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(() => {}); // Each of the transactions gets the rejection.
    this.durable = promise;
    this.resolve = resolve;
    this.reject = reject;
  }
}
