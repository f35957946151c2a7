import { resolve } from 'node:path';
import { DataFolder } from '../../lib/index.ts';
import { type Storage, silentLogger } from '../../lib/internal.ts';
import type { Config } from '../config/config.ts';
import { NEEDS } from '../place/needs.ts';
import { openPlace } from '../place/open-place.ts';
import { UserError } from '../support/user-error.ts';
import { examineArtifacts } from './artifacts.ts';
import { examineBackups } from './backups.ts';
import { type DataReport, examineData } from './data.ts';
import { type Finding, failed } from './finding.ts';
import { examineIssuer } from './issuer.ts';
import { ClockWatch, examineDisk, examineLimits, examineMachine } from './machine.ts';
import { examineCertificate, examinePort } from './network.ts';
import { examineRenders } from './renders.ts';
import { examineTraces } from './traces.ts';

/**
 * Checks everything that a service with this configuration needs, with or without a running one, and reports each
 * finding as soon as it is known. Creates nothing. Concurrent calls don't interfere.
 */
export async function examine(config: Config, tell: (finding: Finding) => void): Promise<void> {
  const clock = new ClockWatch();
  const isWorker = config.roles.includes('worker');
  if (isWorker) for (const finding of examineMachine(config)) tell(finding);
  const limits = examineLimits(config);
  for (const finding of limits) tell(finding);
  tell(await examineDisk(config));
  const missing = await examineNeeds(config);
  for (const finding of missing) tell(finding);
  const data = await examineData(config);
  for (const finding of data.findings) tell(finding);
  if (!missing.some(({ check }) => check === 'Artifacts')) {
    const artifacts = await withStorage(config, data, (storage) => examineArtifacts(config, storage));
    if (artifacts) tell(artifacts);
  }
  const backups = await examineBackups(config, data.backups);
  if (backups) tell(backups);
  tell(await examinePort(config, data));
  const certificate = await examineCertificate(config);
  if (certificate) tell(certificate);
  const traces = await examineTraces(process.env);
  if (traces) tell(traces);
  const issuer = await examineIssuer(config);
  if (issuer) tell(issuer);
  // With too small limits, they could end this process.
  if (isWorker && limits.every(({ status }) => status === 'ok')) await examineRenders(config, tell);
  tell(clock.finding(data.newestMs, data.clockAheadMs));
}

/** What `serve` would refuse to start without. */
async function examineNeeds(config: Config): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { check, assert } of NEEDS) {
    try {
      await assert(config);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      findings.push(failed(check, error.message, 'Fix this, then run the doctor again.'));
    }
  }
  return findings;
}

/** With the storage that has been examined; that of a data folder is not started. Undefined if it cannot be read. */
async function withStorage<T>(
  config: Config,
  { isReadable }: DataReport,
  work: (storage: Storage | undefined) => Promise<T>,
): Promise<T> {
  if (config.databaseUrl === undefined) return work(new DataFolder(resolve(config.dataDir)).storage);
  if (!isReadable) return work(undefined);
  const { place } = await openPlace(config, { serves: false, mayCreate: false, logger: silentLogger });
  try {
    return await work(place.storage);
  } finally {
    await place.stop();
  }
}
