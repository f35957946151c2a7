// Runs the webhook verifiers of the manual in their languages on deliveries that a receiver got.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { systemClock } from '../../lib/time/clock.ts';
import { signWebhook } from '../../lib/webhooks/signature.ts';
import { TestAuthority } from '../fixtures/certificates.ts';
import { openPost, SECRET } from '../fixtures/deliveries.ts';
import { testFolder } from '../fixtures/test-folder.ts';
import { webhookReceiver } from '../fixtures/webhook-receiver.ts';

const manual = readFileSync(join(import.meta.dirname, '../../appliance/api.md'), 'utf8');
const folder = testFolder(t);

/** By language: the file for the manual's code, a program that calls it, and the command that runs that program. */
const LANGUAGES: Record<string, { file: string; harness: [file: string, text: string]; run: string[] }> = {
  js: {
    file: 'verify.mjs',
    harness: [
      'main.mjs',
      `import { readFileSync } from 'node:fs';
       import { verify } from './verify.mjs';
       const [body, header, secret] = process.argv.slice(2);
       process.exit(verify(readFileSync(body), header, secret) ? 0 : 1);`,
    ],
    run: [process.execPath, 'main.mjs'],
  },
  python: {
    file: 'verify.py',
    harness: [
      'main.py',
      `import sys
from verify import verify
body, header, secret = sys.argv[1:]
sys.exit(0 if verify(open(body, "rb").read(), header, secret) else 1)`,
    ],
    run: ['python3', 'main.py'],
  },
  go: {
    file: 'verify.go',
    harness: [
      'main.go',
      `package main
       import "os"
       func main() {
         body, err := os.ReadFile(os.Args[1])
         if err != nil { os.Exit(2) }
         if !verify(body, os.Args[2], os.Args[3]) { os.Exit(1) }
       }`,
    ],
    run: ['./verify-go'],
  },
  php: {
    file: 'verify.php',
    harness: [
      'main.php',
      `<?php require 'verify.php'; [, $body, $header, $secret] = $argv;
       exit(verify(file_get_contents($body), $header, $secret) ? 0 : 1);`,
    ],
    run: ['php', 'main.php'],
  },
  sh: { file: 'verify.sh', harness: ['main.sh', '. ./verify.sh; verify "$@"'], run: ['sh', 'main.sh'] },
};

/** The code block of the manual in a language that defines `verify`. */
function snippet(language: string): string {
  const codes = [...manual.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(
    ([, code]) => code,
  );
  const [code, ...others] = codes.filter((code) => /\bverify\(/.test(code ?? ''));
  if (!code || others.length > 0) throw new Error(`the manual must have exactly one verifier in ${language}`);
  return code;
}

function run(command: string[]): { status: number | null; output: string } {
  const [program, ...args] = command as [string, ...string[]];
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd: folder, encoding: 'utf8' });
  return { status, output: `${stdout}${stderr}${error ?? ''}` };
}

const authority = new TestAuthority(testFolder(t));
const receiver = await webhookReceiver(t, authority.issue(['127.0.0.1']));
const outbound = { allowNetworks: ['127.0.0.0/8'], ca: authority.ca };
const { endJob, sender } = await openPost(t, { clock: systemClock, outbound });
await endJob(`https://127.0.0.1:${receiver.port}/`, '{"name":"数学 % \\\\n","n":1.0,\n"nul":"\\u0000"}');
await endJob(`https://127.0.0.1:${receiver.port}/`);
sender.start();
const deliveries = await receiver.got(2);

for (const [language, { file, harness, run: command }] of Object.entries(LANGUAGES)) {
  t.test(`the ${language} verifier of the manual accepts deliveries and rejects forgeries`, async (t) => {
    writeFileSync(join(folder, file), snippet(language));
    writeFileSync(join(folder, harness[0]), harness[1]);
    if (language === 'go') {
      const built = run(['go', 'build', '-o', 'verify-go', 'verify.go', 'main.go']);
      t.equal(built.status, 0, built.output);
    }
    const verify = (body: Buffer, header: string, secret = SECRET) => {
      writeFileSync(join(folder, 'body'), body);
      const { status, output } = run([...command, 'body', header, secret]);
      t.equal(output, '', 'it prints nothing');
      return status;
    };
    for (const { body, headers } of deliveries) {
      t.equal(verify(body, String(headers['svc-signature'])), 0, 'a delivery is accepted');
    }
    const [{ body, headers }] = deliveries as [(typeof deliveries)[0]];
    const header = String(headers['svc-signature']);
    const [time, v1] = header.split(',') as [string, string];
    t.equal(verify(body, `${v1},${time}`), 0, 'the order of the header’s parts does not matter');
    t.equal(verify(Buffer.concat([body, Buffer.from('\n')]), header), 1, 'an added byte is rejected');
    t.equal(verify(body.subarray(1), header), 1, 'a missing byte is rejected');
    t.equal(verify(body, header, 'whsec_other'), 1, 'another secret is rejected');
    const forged = [
      `${time},v1=${'0'.repeat(64)}`,
      `${time},v1=`,
      `${time},v1=zz`,
      time,
      v1,
      '',
      'nonsense',
      `t=,${v1}`,
    ];
    for (const other of forged) t.equal(verify(body, other), 1, other);
    const signed = (seconds: number) => signWebhook(body, SECRET, { now: Date.now() + seconds * 1000 });
    t.equal(verify(body, signed(-290)), 0);
    t.equal(verify(body, signed(-310)), 1, 'too old');
    t.equal(verify(body, signed(310)), 1, 'in the future');
  });
}
