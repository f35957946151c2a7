import { homedir } from 'node:os';

/** The home folder of this user; undefined without `HOME` and an entry in passwd, as in some containers. @internal */
export function homeFolder(): string | undefined {
  try {
    return homedir();
  } catch {
    return undefined;
  }
}
