import Joi from 'joi';
import type { ArtifactConfig } from './config-values.ts';
import { withoutPassword } from './database-options.ts';
import type { ConfigOption } from './option.ts';
import { endpoint } from './option-schemas.ts';

/** Options about where artifacts are kept. */
export const ARTIFACT_OPTIONS: Record<keyof ArtifactConfig, ConfigOption> = {
  artifactDir: {
    description: 'Folder for artifacts; with a database, one that all machines share',
    allowed: 'a path',
    schema: Joi.string(),
    value: 'folder',
    defaultText: 'artifacts in the data folder',
  },
  s3Bucket: {
    description: 'Bucket of S3, or of a server with its protocol, for artifacts',
    allowed: 'the name of a bucket',
    schema: Joi.string().pattern(/^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/),
    value: 'name',
    defaultText: 'none: artifacts are files',
  },
  s3Prefix: {
    description: 'Beginning of the keys of objects in the bucket, e.g. renders/',
    allowed: 'text that does not begin with a slash',
    schema: Joi.string().pattern(/^[^/]/),
    value: 'prefix',
    defaultText: 'none',
  },
  s3Region: {
    description: 'Region of the bucket',
    allowed: 'the name of a region',
    schema: Joi.string().pattern(/^[a-z0-9-]+$/),
    value: 'region',
    defaultText: 'AWS_REGION',
  },
  s3Endpoint: {
    description: 'URL of an S3 server other than AWS',
    allowed: 'an http:// or https:// URL without credentials',
    schema: endpoint,
    shown: withoutPassword,
    value: 'url',
    defaultText: 'that of AWS',
  },
  s3PathStyle: {
    description: 'Whether the bucket is part of the path of S3 URLs instead of the host name',
    allowed: 'true or false',
    schema: Joi.boolean(),
    value: 'true|false',
    defaultText: 'true with an endpoint',
  },
  s3Checksums: {
    description:
      'Whether the S3 server verifies and stores checksums of whole objects; false for servers that reject them',
    allowed: 'true or false',
    schema: Joi.boolean(),
    value: 'true|false',
    defaultText: 'true',
  },
  s3Ca: {
    description: "File with additional CA certificates (PEM) that sign the S3 server's certificate",
    allowed: 'a path',
    schema: Joi.string(),
    value: 'file',
    defaultText: 'none',
  },
  s3AccessKeyId: {
    description: 'Id of the access key for S3',
    allowed: 'text without spaces',
    schema: Joi.string().pattern(/^\S+$/),
    value: 'id',
    defaultText: 'as AWS tools find it: environment, profile or role of the machine',
  },
  s3SecretAccessKey: {
    description: 'Secret of the access key for S3',
    allowed: 'text without spaces',
    schema: Joi.string().pattern(/^\S+$/),
    secret: true,
  },
  s3SecretAccessKeyFile: {
    description: 'File with the secret of the access key for S3',
    allowed: 'a path',
    schema: Joi.string(),
    value: 'file',
    defaultText: 'none',
  },
  s3Encryption: {
    description: 'Encryption of objects by the S3 server',
    allowed: 'AES256 or aws:kms',
    schema: Joi.string().valid('AES256', 'aws:kms'),
    value: 'algorithm',
    defaultText: 'as configured for the bucket',
  },
  s3KmsKeyId: {
    description: 'Key (id or ARN) for aws:kms',
    allowed: 'text without spaces',
    schema: Joi.string().pattern(/^\S+$/),
    value: 'id',
    defaultText: 'the key of the account for S3',
  },
  s3Links: {
    description:
      'How clients get artifacts of a bucket: from this service, by presigned links that it redirects to, or from ' +
      'the public URL of the bucket',
    allowed: 'service, presigned or public',
    schema: Joi.string().valid('service', 'presigned', 'public').default('service'),
    value: 'way',
  },
  s3PublicUrl: {
    description: 'URL under which anyone can read the bucket, such as that of a CDN, for public links',
    allowed: 'an http:// or https:// URL without credentials',
    schema: endpoint,
    shown: withoutPassword,
    value: 'url',
    defaultText: 'none',
  },
};
