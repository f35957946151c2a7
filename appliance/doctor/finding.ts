/** What the doctor has to say of one thing. */
export interface Finding {
  /** What was looked at. */
  check: string;
  /** `warning`: it works, but may not for long, or not as well as it could. `failed`: it doesn't work. */
  status: 'ok' | 'warning' | 'failed';
  message: string;
  /** What to do about it; absent when there is nothing to do. */
  remedy?: string;
}

export function ok(check: string, message: string): Finding {
  return { check, status: 'ok', message };
}

export function warning(check: string, message: string, remedy: string): Finding {
  return { check, status: 'warning', message, remedy };
}

export function failed(check: string, message: string, remedy: string): Finding {
  return { check, status: 'failed', message, remedy };
}

const MIB = 1024 * 1024;

/** `3.2 GiB` */
export function gib(bytes: number): string {
  return `${(bytes / 1024 / MIB).toFixed(1)} GiB`;
}
