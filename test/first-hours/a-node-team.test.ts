// The first hour of a team that adds renders to its Node program, set up from the network.
import t from 'tap';
import { machinesUnavailable } from '../binary/network-namespace.ts';
import { packPackage } from '../fixtures/packed-package.ts';
import { blockOf } from './page.ts';
import { Session } from './session.ts';

const HELLO = '// hello.mjs';

t.test(
  'a Node team renders from its program and verifies webhooks',
  { skip: machinesUnavailable() },
  async (t) => {
    const session = await Session.begin(t, {
      [await packPackage(t)]: 'scenepress/scenepress-0.1.0.tgz',
    });
    const save = (name: string, code: string) => session.run(`cat > ${name} <<'END'\n${code}END`);
    t.equal(
      blockOf('README.md', HELLO),
      blockOf('lib/README.md', HELLO),
      'both pages begin with the same program',
    );
    await session.run('mkdir my-project');
    await save('my-project/hello.mjs', blockOf('lib/README.md', HELLO));

    await session.follow('lib/README.md', 'node hello.mjs', {
      instead: {
        'cd scenepress && node scripts/setup.mjs': null,
      },
    });
    t.match(
      await session.run('file=$(find renders -name video.mp4) && head -c 8 "$file" | tail -c 4'),
      'ftyp',
    );

    await save('receiver.mjs', blockOf('lib/README.md', '// receiver.mjs'));
    const receiver = await session.serve(
      'env -C my-project WEBHOOK_SECRET=whsec_1 node receiver.mjs',
      /waiting for webhooks/,
    );
    await save(
      'send.mjs',
      `import { signWebhook } from 'scenepress/webhooks';
const body = JSON.stringify({ jobId: 'a', status: 'completed' });
const send = async (secret) => {
  const headers = { 'svc-signature': signWebhook(body, secret) };
  return (await fetch('http://127.0.0.1:3000', { method: 'POST', body, headers })).status;
};
console.log(await send('whsec_1'), await send('whsec_2'));
`,
    );
    t.match(await session.run('node send.mjs'), '200 400');
    await receiver.stop();
  },
);
