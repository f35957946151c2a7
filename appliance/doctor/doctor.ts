import type { Config } from '../config/config.ts';
import { examineData } from './data.ts';
import type { Finding } from './finding.ts';
import { ClockWatch, examineMachine } from './machine.ts';
import { examineCertificate, examinePort } from './network.ts';
import { examineRenders } from './renders.ts';

/**
 * Checks everything that a service with this configuration needs, with or without a running one, and reports each
 * finding as soon as it is known. Concurrent calls don't interfere.
 */
export async function examine(config: Config, tell: (finding: Finding) => void): Promise<void> {
  const clock = new ClockWatch();
  for (const finding of await examineMachine(config)) tell(finding);
  const data = await examineData(config);
  for (const finding of data.findings) tell(finding);
  tell(await examinePort(config, data));
  const certificate = await examineCertificate(config);
  if (certificate) tell(certificate);
  await examineRenders(config, tell);
  tell(clock.finding(data.newestMs));
}
