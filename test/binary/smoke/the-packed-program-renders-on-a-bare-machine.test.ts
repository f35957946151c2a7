import t from 'tap';
import { enterOwnNetwork, noMachines } from '../own-network.ts';
import { renderOnce } from '../whole-life.ts';

const skip = noMachines();
if (!skip) enterOwnNetwork(['trixie']);

t.test('text, TeX and 3D are rendered on a bare Debian without a network', { skip }, (t) =>
  renderOnce(t, { debian: 'trixie', user: 'root', userNamespaces: true }),
);
