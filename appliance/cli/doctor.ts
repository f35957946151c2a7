import { Command } from 'commander';
import { examine } from '../doctor/doctor.ts';
import type { Finding } from '../doctor/finding.ts';
import { addConfigFlags, configOf } from './config-flags.ts';
import { addExamples } from './describe.ts';
import { print, printable, printJson } from './output.ts';

const MARKS: Record<Finding['status'], string> = { ok: 'ok', warning: 'warning', failed: 'FAILED' };
const INDENT = 22;

/** `scenepress doctor` */
export function doctorCommand(): Command {
  const command = addConfigFlags(new Command('doctor'))
    .description('Check everything that `serve` with the same options needs, and render test scenes')
    .option('--json', 'print JSON')
    .action(async (flags: Record<string, unknown>) => {
      const findings: Finding[] = [];
      await examine(configOf(flags), (finding) => {
        findings.push(finding);
        if (!flags['json']) describe(finding);
      });
      const ok = findings.every(({ status }) => status !== 'failed');
      if (flags['json']) printJson({ ok, findings });
      if (!ok) process.exitCode = 1;
    });
  return addExamples(
    command,
    ['scenepress doctor --data-dir /var/lib/scenepress', 'with or without a running server'],
    ['scenepress doctor --json', 'exit code 1 if a check failed'],
  );
}

function describe({ check, status, message, remedy }: Finding): void {
  const lines = printable(message).split('\n');
  print(`${MARKS[status].padEnd(8)}  ${check.padEnd(INDENT - 10)}${lines.join(`\n${' '.repeat(INDENT)}`)}`);
  if (remedy !== undefined) print(`${' '.repeat(INDENT)}→ ${printable(remedy)}`);
}
