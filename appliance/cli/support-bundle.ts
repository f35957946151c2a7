import { rm, writeFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { Command } from 'commander';
import { isScenepressError } from '../../lib/internal.ts';
import { type Config, loadConfig, readSettings } from '../config/config.ts';
import { examine } from '../doctor/doctor.ts';
import type { Finding } from '../doctor/finding.ts';
import { withAdministration } from '../runtime/with-administration.ts';
import { type BundleFile, jsonFile, logFile, machine, packBundle } from '../support/support-bundle.ts';
import { UserError } from '../support/user-error.ts';
import { shownSetting } from './config.ts';
import { addConfigFlags } from './config-flags.ts';
import { addExamples } from './describe.ts';
import { print, printJson, shownSize } from './output.ts';
import { versions } from './version.ts';

interface Flags extends Record<string, unknown> {
  doctor: boolean;
  log?: string;
  json?: boolean;
}

/** `scenepress support-bundle [FILE]` */
export function supportBundleCommand(): Command {
  const command = addConfigFlags(new Command('support-bundle'))
    .description('Collect diagnostic data in one file, without scenes, metadata, keys and secrets')
    .argument('[file]', 'file to write (default: scenepress-support-<time>.tar.gz)')
    .option('--log <file>', 'log to include, redacted (default: the log file of the service)')
    .option('--no-doctor', "omit the doctor's report, which takes some seconds")
    .option('--json', 'print JSON')
    .action(collect);
  return addExamples(
    command,
    ['scenepress support-bundle --data-dir /var/lib/scenepress', 'with or without a running server'],
    [
      'journalctl -u scenepress -o cat > log; scenepress support-bundle --log log',
      'with the systemd journal',
    ],
  );
}

async function collect(file: string | undefined, flags: Flags): Promise<void> {
  const sources = { flags, env: process.env };
  const settings = readSettings(sources);
  const config = loadConfig(sources);
  const stamp = new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
  const path = resolve(file ?? `scenepress-support-${stamp}.tar.gz`);
  const files: BundleFile[] = [
    jsonFile('versions.json', { ...versions(), machine: machine() }),
    jsonFile('config.json', settings.map(shownSetting)),
    ...(await aboutService(config)),
    ...(flags.doctor ? [jsonFile('doctor.json', await findings(config))] : []),
    ...(await log(flags.log ?? config.logFile)),
  ];
  const bundle = await packBundle(basename(path).replace(/\.tar\.gz$|\.tgz$/, ''), files);
  await write(path, bundle);
  const names = files.map(({ name }) => name);
  if (flags.json) printJson({ file: path, sizeBytes: bundle.length, contents: names });
  else print(`${path} (${shownSize(bundle.length)}): ${names.join(', ')}.\nReview it before you send it.`);
}

async function findings(config: Config): Promise<Finding[]> {
  const found: Finding[] = [];
  await examine(config, (finding) => found.push(finding));
  return found;
}

/** Counts and metrics; the error if the data folder can't be opened. */
async function aboutService(config: Config): Promise<BundleFile[]> {
  try {
    return await withAdministration(config, async (admin, { served }) => {
      const counts = jsonFile('service.json', { served, ...(await admin.data.showCounts()) });
      return served
        ? [counts, { name: 'metrics.txt', text: (await admin.data.showMetrics()).text }]
        : [counts];
    });
  } catch (error) {
    if (!isScenepressError(error) && !(error instanceof UserError)) throw error;
    return [jsonFile('service.json', { error: error.message })];
  }
}

async function log(path: string | undefined): Promise<BundleFile[]> {
  if (path === undefined) return [];
  try {
    return [await logFile(path)];
  } catch (cause) {
    throw new UserError(`The log can't be read: ${(cause as Error).message}.`, { cause });
  }
}

async function write(path: string, bytes: Uint8Array): Promise<void> {
  try {
    await writeFile(path, bytes, { mode: 0o600, flag: 'wx' });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code !== 'EEXIST') await rm(path, { force: true }).catch(() => {});
    throw new UserError(`The bundle can't be written: ${message}.`, { cause });
  }
}
