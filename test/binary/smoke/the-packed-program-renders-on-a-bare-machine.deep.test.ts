import t from 'tap';
import { renderOnce } from '../lifecycle.ts';
import { enterNetworkNamespace, machinesUnavailable } from '../network-namespace.ts';

const skip = machinesUnavailable();
if (!skip) enterNetworkNamespace(['trixie']);

t.test('text, TeX and 3D are rendered on a bare Debian without a network', { skip }, (t) =>
  renderOnce(t, { debian: 'trixie', user: 'root', userNamespaces: true }),
);
