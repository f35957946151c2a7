import t from 'tap';
import { runLifecycle } from '../lifecycle.ts';
import { enterNetworkNamespace, machinesUnavailable } from '../network-namespace.ts';

const skip = machinesUnavailable();
if (!skip) enterNetworkNamespace(['bullseye']);

t.test('the program works on a bare machine as root', { skip }, (t) =>
  runLifecycle(t, { debian: 'bullseye', user: 'root', userNamespaces: true }),
);

t.test('the program works on a bare machine as an ordinary user', { skip }, (t) =>
  runLifecycle(t, { debian: 'bullseye', user: 'ordinary', userNamespaces: true }),
);

t.test('the program works without user namespaces, with the reduced sandbox', { skip }, (t) =>
  runLifecycle(t, { debian: 'bullseye', user: 'ordinary', userNamespaces: false }),
);

t.test('the program works as root without the right to mount, as in most containers', { skip }, (t) =>
  runLifecycle(t, { debian: 'bullseye', user: 'root', userNamespaces: false }),
);
