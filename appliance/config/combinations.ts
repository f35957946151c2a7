import { resolve } from 'node:path';
import type { Setting } from './config.ts';
import { DATABASE_BACKUPS } from './database-backups.ts';
import { type Config, flagOf, variableOf } from './options.ts';

/** Sentences about options that contradict or lack each other. */
export function combinationProblems(settings: Setting[]): string[] {
  const given = new Map(settings.map((setting) => [setting.name, setting]));
  const has = (name: keyof Config) => given.get(name)?.value !== undefined;
  const isSet = (name: keyof Config) => has(name) && given.get(name)?.source !== 'default';
  const problems: string[] = [];
  const pairs: [keyof Config, keyof Config, string][] = [
    ['tlsCert', 'tlsKey', 'HTTPS needs a certificate and its key'],
    ['databaseCert', 'databaseKey', 'A client certificate for the database needs its key'],
  ];
  for (const [one, other, why] of pairs) {
    if (has(one) === has(other)) continue;
    problems.push(`${why}: set ${named(has(one) ? other : one)} too.`);
  }
  const url = given.get('databaseUrl');
  if (url?.source === 'flag' && URL.canParse(String(url.value)) && new URL(String(url.value)).password !== '')
    problems.push(
      `Other users of the machine can read command lines: give the password of the database in ${variableOf('databaseUrl')}, ` +
        `a file (${named('databasePasswordFile')}), PGPASSWORD or PGPASSFILE.`,
    );
  for (const name of NEED_A_DATABASE) {
    if (!isSet(name) || has('databaseUrl')) continue;
    problems.push(`${named(name)} needs a database: set ${named('databaseUrl')} too.`);
  }
  for (const name of NEED_A_BUCKET) {
    if (!isSet(name) || has('s3Bucket')) continue;
    problems.push(`${named(name)} needs a bucket: set ${named('s3Bucket')} too.`);
  }
  for (const name of ['oidcAudience', 'oidcCa'] as const)
    if (has(name) && !has('oidcIssuer'))
      problems.push(`${named(name)} is for access tokens: set ${named('oidcIssuer')} too.`);
  if (has('speechCommand') && has('speechUrl'))
    problems.push(
      `Texts are said by a command or by a server: remove ${named('speechCommand')} or ${named('speechUrl')}.`,
    );
  problems.push(...backupProblems(given));
  if (has('s3Bucket') && has('artifactDir'))
    problems.push(`Artifacts are kept in one place: remove ${named('artifactDir')} or ${named('s3Bucket')}.`);
  if (given.get('s3Links')?.value === 'public' && !has('s3PublicUrl'))
    problems.push(`Public links need ${named('s3PublicUrl')}.`);
  if (has('s3AccessKeyId') !== (has('s3SecretAccessKey') || has('s3SecretAccessKeyFile')))
    problems.push(
      `An access key for S3 needs its id, ${named('s3AccessKeyId')}, and its secret, SCENEPRESS_S3_SECRET_ACCESS_KEY ` +
        `or ${named('s3SecretAccessKeyFile')}.`,
    );
  if (has('s3KmsKeyId') && given.get('s3Encryption')?.value !== 'aws:kms')
    problems.push(`${named('s3KmsKeyId')} needs ${flagOf('s3Encryption')} aws:kms.`);
  return problems;
}

function backupProblems(given: Map<keyof Config, Setting>): string[] {
  const options: (keyof Config)[] = ['backupDir', 'backupSchedule', 'backupsKept'];
  const set = options.filter((name) => given.get(name) && given.get(name)?.source !== 'default');
  if (set[0] === undefined) return [];
  if (given.get('databaseUrl')?.value !== undefined)
    return [`${named(set[0])} is for a data folder, not for a database: remove it. ${DATABASE_BACKUPS}`];
  const backupDir = given.get('backupDir')?.value;
  if (backupDir === undefined)
    return [`${named(set[0])} needs a folder for backups: set ${named('backupDir')} too.`];
  const dataDir = resolve(String(given.get('dataDir')?.value));
  if (!`${resolve(String(backupDir))}/`.startsWith(`${dataDir}/`)) return [];
  return [
    `${named('backupDir')} is in the data folder, with which the backups would be lost: use a folder outside of it, best on ` +
      'another disk.',
  ];
}

const NEED_A_DATABASE: (keyof Config)[] = [
  'databasePasswordFile',
  'databaseTls',
  'databaseCa',
  'databaseCert',
  'roles',
  'quality',
  'machineName',
];
const NEED_A_BUCKET: (keyof Config)[] = [
  's3Prefix',
  's3Region',
  's3Endpoint',
  's3PathStyle',
  's3Checksums',
  's3Ca',
  's3AccessKeyId',
  's3Encryption',
];

function named(name: keyof Config): string {
  return `${flagOf(name)} (${variableOf(name)})`;
}
