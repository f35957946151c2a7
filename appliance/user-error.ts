/** What the user has to put right: shown as it is, without a stack trace. */
export class UserError extends Error {
  override name = 'UserError';
  /** What the program ends with: 1 it failed, 2 wrong usage or configuration, 130 interrupted. */
  readonly exitCode: 1 | 2 | 130;

  constructor(message: string, { exitCode = 1, cause }: { exitCode?: 1 | 2 | 130; cause?: unknown } = {}) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}
