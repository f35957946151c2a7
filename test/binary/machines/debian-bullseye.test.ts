import t from 'tap';
import { enterOwnNetwork, noMachines } from '../own-network.ts';
import { liveWholeLife } from '../whole-life.ts';

const skip = noMachines();
if (!skip) enterOwnNetwork(['bullseye']);

t.test('the program lives on a bare machine as root', { skip }, (t) =>
  liveWholeLife(t, { debian: 'bullseye', user: 'root', userNamespaces: true }),
);

t.test('the program lives on a bare machine as an ordinary user', { skip }, (t) =>
  liveWholeLife(t, { debian: 'bullseye', user: 'somebody', userNamespaces: true }),
);

t.test('the program lives without user namespaces, in the reduced sandbox', { skip }, (t) =>
  liveWholeLife(t, { debian: 'bullseye', user: 'somebody', userNamespaces: false }),
);

t.test('the program lives as root without the right to mount, as in most containers', { skip }, (t) =>
  liveWholeLife(t, { debian: 'bullseye', user: 'root', userNamespaces: false }),
);
