/** What stops a build, said for people: what is wrong, and what to do about it. */
export class BuildError extends Error {
  override readonly name = 'BuildError';
}
