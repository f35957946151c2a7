// The first hour of somebody who knows `manim`: the command in an empty folder, set up from the network.
import { join } from 'node:path';
import t from 'tap';
import { machinesUnavailable } from '../binary/network-namespace.ts';
import { packPackage } from '../fixtures/packed-package.ts';
import { Session } from './session.ts';

t.test('an author renders scenes from the command line', { skip: machinesUnavailable() }, async (t) => {
  const session = await Session.begin(t, {
    [await packPackage(t)]: 'scenepress/scenepress-0.1.0.tgz',
    [join(import.meta.dirname, '../../.github/frame.jpg')]: 'Pictures/logo.png',
  });
  await session.run('mkdir films && cd films');
  await session.follow('README.md', 'npx scenepress render scene.py', {
    instead: { '(cd ~/scenepress && npm pack)': null },
  });
  t.match(await session.run('head -c 8 squares.mp4 | tail -c 4'), 'ftyp');
  await session.follow('README.md', 'npx scenepress account create');

  await session.run('npm install --global ~/scenepress/scenepress-0.1.0.tgz');
  await session.run('mkdir ~/lessons && cp scene.py ~/Pictures/logo.png ~/lessons && cd ~/lessons');
  await session.follow('appliance/cli.md', 'scenepress render -ql picture.py');
  t.same((await session.run('ls')).trim().split('\n'), [
    ...['Squares.gif', 'Squares.mp4', 'Squares.png', 'logo.png', 'picture.py', 'scene.py', 'squares.mp4'],
    'videos',
  ]);
});
