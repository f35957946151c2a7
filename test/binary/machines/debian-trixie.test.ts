import t from 'tap';
import { enterOwnNetwork, noMachines } from '../own-network.ts';
import { liveWholeLife } from '../whole-life.ts';

const skip = noMachines();
if (!skip) enterOwnNetwork(['trixie']);

for (const user of ['root', 'somebody'] as const) {
  for (const userNamespaces of [true, false]) {
    const means = userNamespaces ? 'with' : 'without';
    t.test(`the program lives on a bare machine as ${user}, ${means} user namespaces`, { skip }, (t) =>
      liveWholeLife(t, { debian: 'trixie', user, userNamespaces }),
    );
  }
}
