/** What the user has to put right: shown as it is, without a stack trace. */
export class UserError extends Error {
  override name = 'UserError';
  /** What the program ends with: 1 when something failed, 2 when it was asked for something impossible. */
  readonly exitCode: 1 | 2;

  constructor(message: string, { exitCode = 1, cause }: { exitCode?: 1 | 2; cause?: unknown } = {}) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}
