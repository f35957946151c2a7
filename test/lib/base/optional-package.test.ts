import t from 'tap';
import { installCommand } from '../../../lib/base/optional-package.ts';

t.test('a package is installed with npm, a checkout by its set-up', async (t) => {
  t.equal(installCommand('pg', 'file:///app/node_modules/scenepress/dist/lib/x.js'), 'npm install pg');
  t.equal(installCommand('pg', 'file:///src/scenepress/lib/x.ts'), 'node scripts/setup.mjs --npm-only');
});
