import t from 'tap';
import { noSandbox, selfAttackProblem, trialProblem } from '../../../../lib/render/trial/sandbox-refused.ts';
import type { SandboxStatus } from '../../../../lib/render/trial/sandbox-status.ts';

t.test('a refusal names the missing layers and the way to render without them', async (t) => {
  const status: SandboxStatus = {
    level: 'none',
    layers: ['landlock'],
    limits: { memory: 'watch', processes: 'user', disk: 'watch' },
    problems: { namespaces: 'EPERM', bubblewrap: 'bwrap is not installed', cgroup: 'there is none' },
  };
  t.match(
    noSandbox(status).message,
    /bubblewrap: bwrap is not installed; namespaces: EPERM\).*--insecure-no-sandbox/s,
  );
});

t.test('a refused trial quotes the error of its scene', async (t) => {
  t.match(trialProblem('LaTeX failed').message, /LaTeX failed/);
});

t.test('only a self-attack that ran and failed passes', async (t) => {
  t.equal(selfAttackProblem('SandboxHolds\nline 150: raise SandboxHolds', []), undefined);
  t.match(selfAttackProblem('SandboxHolds', ['mark'])?.message, /got through: it wrote into/);
  t.match(
    selfAttackProblem('SandboxLeaks: made a socket, mounted', [])?.message,
    /it made a socket, mounted\./,
  );
  t.match(selfAttackProblem('SyntaxError: oh', [])?.message, /could not be tested.*SyntaxError/);
  t.match(selfAttackProblem(undefined, [])?.message, /without a result/);
  t.match(selfAttackProblem(null, [])?.message, /without a result/);
});
