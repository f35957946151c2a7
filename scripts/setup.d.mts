/** Debian package → a program whose presence shows, on other systems, that it is installed. */
export const systemPackages: Record<'run' | 'build' | 'dev' | 'binary', Record<string, string | undefined>>;
