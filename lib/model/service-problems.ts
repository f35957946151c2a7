/** What can have a problem. */
export const PROBLEM_PARTS = [
  'service',
  'configuration',
  'storage',
  'sandbox',
  'renderer',
  'disk',
  'artifacts',
  'resources',
] as const;

/** A reason why the service cannot render now. */
export interface ServiceProblem {
  /** What has the problem. */
  part: (typeof PROBLEM_PARTS)[number];
  /** The problem and its remedy, safe to show to anyone; the cause is in the log. */
  message: string;
}

/** Versions of the renderer. */
export interface RendererVersions {
  /** Such as `0.22.0`. */
  manim: string;
  /** Such as `3.11.2`. */
  python: string;
}

/** The problem of a service that is stopping. */
export const SERVICE_STOPPING: ServiceProblem = {
  part: 'service',
  message: 'The service is stopping and accepts no more jobs.',
};
/** The problem of a service whose disk is full. */
export const DISK_FULL: ServiceProblem = {
  part: 'disk',
  message:
    'The disk is full: no jobs are accepted or started. Free some space; the service then continues by itself.',
};
/** The problem of a service whose disk has space, but no inodes. */
export const NO_MORE_FILES: ServiceProblem = {
  part: 'disk',
  message:
    'The file system of the data can hold no more files (it has no free inodes): no jobs are accepted or started. Remove ' +
    'files from it, `df -i` shows how many there are; the service then continues by itself.',
};
/** The message for clients of a service whose disk is full. */
export const DISK_FULL_TO_CLIENTS =
  'The disk of the service is full: no jobs are accepted until there is space. Try again later.';

/** The message for clients of a process that must not work. */
export const HELD_BACK_TO_CLIENTS = 'The service does not accept jobs at present. Try again later.';
