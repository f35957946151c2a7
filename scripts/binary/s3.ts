/** The S3 drivers as one file of the executable, which only a service with S3 reads. */
export * from '@aws-sdk/client-s3';
export { getSignedUrl } from '@aws-sdk/s3-request-presigner';
