import t from 'tap';
import { enterOwnNetwork, noMachines } from '../own-network.ts';
import { liveWholeLife, refuseToStart } from '../whole-life.ts';

const skip = noMachines();
if (!skip) enterOwnNetwork(['trixie']);

t.test('the program lives on a bare machine as root', { skip }, (t) =>
  liveWholeLife(t, { debian: 'trixie', user: 'root', userNamespaces: true }),
);

t.test('the program lives on a bare machine as an ordinary user', { skip }, (t) =>
  liveWholeLife(t, { debian: 'trixie', user: 'somebody', userNamespaces: true }),
);

t.test('the program lives without user namespaces, in the reduced sandbox', { skip }, (t) =>
  liveWholeLife(t, { debian: 'trixie', user: 'somebody', userNamespaces: false }),
);

t.test('as root without the right to mount it says what to do', { skip }, (t) =>
  refuseToStart(t, { debian: 'trixie', user: 'root', userNamespaces: false }),
);
