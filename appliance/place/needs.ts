import type { Config } from '../config/config.ts';
import { UserError } from '../support/user-error.ts';
import { configuredMasterKey, usesSecrets } from './master-key.ts';
import { readWebhookAuthorities } from './webhook-authorities.ts';

/** Something that a server or a worker must be given. */
export interface Need {
  /** For the doctor. */
  check: string;
  /** What is missing. */
  assert: (config: Config) => void | Promise<void>;
}

/** What must be configured before a server or a worker opens its data. `serve`, `worker` and `doctor` check this list. */
export const NEEDS: Need[] = [
  {
    check: 'Artifacts',
    assert: ({ databaseUrl, artifactDir, s3Bucket }) => {
      if (databaseUrl === undefined || artifactDir !== undefined || s3Bucket !== undefined) return;
      throw new UserError(
        'With a database, artifacts must be where all machines reach them: set --s3-bucket (SCENEPRESS_S3_BUCKET), or ' +
          '--artifact-dir (SCENEPRESS_ARTIFACT_DIR) to a folder that they share.',
        { exitCode: 2 },
      );
    },
  },
  {
    check: 'Links',
    assert: ({ databaseUrl, roles, publicUrl, assetUrl, s3Links }) => {
      const isKnown = roles.includes('api') || (publicUrl ?? assetUrl) !== undefined || s3Links === 'public';
      if (databaseUrl === undefined || isKnown) return;
      throw new UserError(
        'The outcomes that webhooks get contain links to artifacts: set --public-url (SCENEPRESS_PUBLIC_URL) to the URL under ' +
          'which clients reach the servers, as on the servers.',
        { exitCode: 2 },
      );
    },
  },
  {
    check: 'Master key',
    assert: async (config) => {
      const key = await configuredMasterKey(config);
      if (config.databaseUrl === undefined || !usesSecrets(config) || key !== undefined) return;
      throw new UserError(
        'With a database, every machine that serves the API or sends webhooks must be given the same master key: set ' +
          'SCENEPRESS_MASTER_KEY or SCENEPRESS_MASTER_KEY_FILE. To make one: openssl rand -hex 32',
      );
    },
  },
  {
    check: 'Webhooks',
    assert: async (config) => {
      await readWebhookAuthorities(config);
    },
  },
];
