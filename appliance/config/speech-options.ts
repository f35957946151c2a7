import { DEFAULT_SPEECH } from '../../lib/internal.ts';

/** Who says the texts of voiceovers. */
export const SPEECH_OPTIONS = {
  speechCommand: {
    description:
      '[Program](scenes.md#speech-of-the-service) with arguments that says the texts of voiceovers without a file; it runs outside of the sandbox',
    type: 'command',
    otherwise: 'none: such a scene fails',
  },
  speechUrl: {
    description: 'URL of a server that says them instead, by POST',
    type: 'endpoint',
  },
  speechVersion: {
    description: 'Any word; change it when the voices change, so that audio from before is not used again',
    type: 'word',
  },
  speechTimeoutSeconds: {
    description: 'Maximum duration of saying a text',
    type: 'count',
    max: 2_147_483,
    unit: 'seconds',
    default: (DEFAULT_SPEECH.timeoutMs / 1000) as number,
  },
  speechConcurrency: {
    description: 'Number of texts said at the same time',
    type: 'count',
    default: DEFAULT_SPEECH.concurrency as number,
  },
  speechCacheGb: {
    description: 'Maximum size of the audio that is kept for further renders; 0 for none',
    type: 'amount',
    unit: 'GiB',
    default: (DEFAULT_SPEECH.cacheBytes / 1024 ** 3) as number,
  },
} as const;
