/** The result of one check of the doctor. */
export interface Finding {
  /** Name of the check. */
  check: string;
  /** `warning`: works, but is degraded or will soon fail. `failed`: doesn't work. */
  status: 'ok' | 'warning' | 'failed';
  message: string;
  /** Suggested action; absent if none is needed. */
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
