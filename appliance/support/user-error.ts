/** An error that the user must fix: its message is shown without a stack trace. */
export class UserError extends Error {
  override name = 'UserError';
  /** 1: failed; 2: invalid usage or configuration; 130: interrupted. */
  readonly exitCode: 1 | 2 | 130;

  constructor(message: string, { exitCode = 1, cause }: { exitCode?: 1 | 2 | 130; cause?: unknown } = {}) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}
