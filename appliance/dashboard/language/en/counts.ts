import { counted } from './format.ts';

/** Numbers of things. */
export const counts = {
  accounts: (count: number): string => counted(count, 'account'),
  attempts: (count: number): string => counted(count, 'attempt'),
  credits: (count: number): string => counted(count, 'credit'),
  days: (count: number): string => counted(count, 'day'),
  drafts: (count: number): string => counted(count, 'draft'),
  files: (count: number): string => counted(count, 'file'),
  frames: (count: number): string => counted(count, 'frame'),
  jobs: (count: number): string => counted(count, 'job'),
  lines: (count: number): string => counted(count, 'line'),
  pictures: (count: number): string => counted(count, 'picture'),
  plays: (count: number): string => counted(count, 'play'),
  problems: (count: number): string => counted(count, 'problem'),
  renders: (count: number): string => counted(count, 'render'),
  videos: (count: number): string => counted(count, 'video'),
  scenes: (count: number): string => counted(count, 'scene'),
  versions: (count: number): string => counted(count, 'version'),
  workers: (count: number): string => counted(count, 'worker'),
};
