import t from 'tap';
import { Precedences } from '../../../../lib/jobs/fairness/changed-precedences.ts';
import type { Queue } from '../../../../lib/storage/queue/queue.ts';

interface Owner {
  owner: string;
  yields: boolean;
  inGoodStanding: boolean;
}

const NORMAL = { yields: false, inGoodStanding: false };

function newPrecedences(queued: Owner[], now: (owner: string) => Omit<Owner, 'owner'>) {
  const afters: string[] = [];
  const queue = {
    async owners({ after, limit }: { after: string; limit: number }) {
      afters.push(after);
      return queued.filter(({ owner }) => owner > after).slice(0, limit);
    },
  };
  return { afters, precedences: new Precedences(queue as unknown as Queue, { precedenceOf: now }) };
}

t.test('owners whose precedence differs from that in the queue have changed', async (t) => {
  const queued = [
    { owner: 'same', ...NORMAL },
    { owner: 'yielding', ...NORMAL },
    { owner: 'good', ...NORMAL },
  ];
  const { precedences } = newPrecedences(queued, (owner) => ({
    yields: owner === 'yielding',
    inGoodStanding: owner === 'good',
  }));
  await precedences.look();
  t.same(precedences.takeChanged(), ['yielding', 'good']);
  t.same(precedences.takeChanged(), [], 'once');
  precedences.note('same');
  precedences.note('same');
  t.same(precedences.takeChanged(), ['same']);
});

t.test('owners are checked in pages of 200, and from the start again', async (t) => {
  const names = Array.from({ length: 401 }, (_, number) => `owner${String(number).padStart(3, '0')}`);
  const queued = names.map((owner) => ({ owner, ...NORMAL }));
  const { precedences, afters } = newPrecedences(queued, () => ({ yields: true, inGoodStanding: false }));
  const counts = [];
  for (let looks = 0; looks < 4; looks++) {
    await precedences.look();
    counts.push(precedences.takeChanged().length);
  }
  t.same(afters, ['', 'owner199', 'owner399', '']);
  t.same(counts, [200, 200, 1, 200]);
});

t.test('an empty queue is checked from the start each time', async (t) => {
  const { precedences, afters } = newPrecedences([], () => NORMAL);
  await precedences.look();
  await precedences.look();
  t.same(afters, ['', '']);
});
