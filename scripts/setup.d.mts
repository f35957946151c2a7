/** Debian package → a program that shows, on other systems, that it is there. */
export const systemPackages: Record<'run' | 'build' | 'dev' | 'binary', Record<string, string | undefined>>;
