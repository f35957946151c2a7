/** A build failure with a message for the user: the problem, and how to fix it. */
export class BuildError extends Error {
  override readonly name = 'BuildError';
}
