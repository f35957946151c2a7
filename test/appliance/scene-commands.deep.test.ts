import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ScenepressClient } from '../../lib/client/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { scenepress } from './command.ts';
import { listeningAppliance } from './listening-appliance.ts';

t.test('scenes are pulled to files and pushed from them, and nothing is lost', async (t) => {
  const { url, key } = await listeningAppliance(t);
  const { scenes } = new ScenepressClient({ url, key });
  const cwd = await temporaryFolder(t);
  const scene = (...args: string[]) =>
    scenepress(['scene', ...args, '--server', url], { cwd, env: { SCENEPRESS_KEY: key } });
  const path = join(cwd, 'Intro.py');
  const { sceneId } = await scenes.create({ name: 'Intro', code: 'one' });

  t.match(await scene('pull'), { code: 0, stdout: 'Intro.py  written, revision 1\n' });
  t.equal(readFileSync(path, 'utf8'), 'one');
  t.match(await scene('push'), { code: 0, stdout: '1 file unchanged.\n' });
  writeFileSync(path, 'two');
  t.match(await scene('push', '--json'), { code: 0, stdout: /"state": ?"pushed"/ });
  t.match(await scenes.get(sceneId), { code: 'two', revision: 2 });

  await scenes.save(sceneId, { revision: 2, code: 'from the browser' });
  writeFileSync(path, 'three');
  t.match(await scene('push'), { code: 1, stderr: /was not pushed: its scene was saved elsewhere/ });
  t.match(await scene('pull'), { code: 1, stderr: /was changed here and has not been pushed/ });
  t.equal(readFileSync(path, 'utf8'), 'three');
  t.match(await scene('push', '--force'), { code: 0, stdout: /pushed, revision 4/ });
  t.match(await scenes.draft(sceneId, 4), { code: 'three' });

  writeFileSync(join(cwd, 'Outro.py'), 'new');
  t.match(await scene('push', 'Outro.py'), { code: 0, stdout: /created, revision 1/ });
  t.match(await scene('list'), { code: 0, stdout: /^NAME.*\nOutro .*\nIntro .*\n$/ });
  t.match(await scene('push', 'nothing.py'), { code: 1, stderr: /There is no file nothing.py/ });
  t.match(await scene('pull', 'Nothing'), { code: 1, stderr: /There is no scene Nothing/ });
  await scenes.remove(sceneId);
  writeFileSync(path, 'four');
  t.match(await scene('push', 'Intro.py'), { code: 1, stderr: /its scene has been removed/ });
});
