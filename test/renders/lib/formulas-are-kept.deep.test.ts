// Formulas of an owner's renders are kept for the next ones, but no scene can change them, and no other owner uses them.
import { on } from 'node:events';
import { readdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Job, RenderService } from '../../../lib/index.ts';
import { render, scene, startService } from '../../fixtures/renders.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

t.setTimeout(600_000);
const FORMULA = 'f = MathTex(r"\\int_0^1 x^2 \\, dx", r"= \\frac{1}{3}")';
const HAS_STARTED_LATEX = 'os.path.exists("media/served")';
const SETS = scene(FORMULA, 'self.add(f); self.wait(0.2)', `assert ${HAS_STARTED_LATEX}, "it was known"`);
const KNOWS = scene(
  FORMULA,
  'self.add(f); self.wait(0.2)',
  `assert not ${HAS_STARTED_LATEX}, "LaTeX was started"`,
);
const DONE = { status: 'completed', error: null };

/** Resolves when the condition holds for the names of the packs in the folder. */
async function packs(folder: string, holds: (names: string[]) => boolean): Promise<string[]> {
  for await (const names of changesOf(folder)) if (holds(names)) return names;
  throw new Error('the folder is no longer watched');
}

async function* changesOf(folder: string): AsyncGenerator<string[]> {
  const list = () => readdirSync(folder).filter((name) => !name.endsWith('.new'));
  const watcher = watch(folder);
  try {
    const changes = on(watcher, 'change');
    yield list();
    for await (const _ of changes) yield list();
  } finally {
    watcher.close();
  }
}

t.test('formulas are kept', async (t) => {
  const folder = testFolder(t);
  const tex = join(folder, 'tex');
  let service = await startService(t, { folder, workers: 1 });
  const run = (service: RenderService, owner: string, code: string): Promise<Job> =>
    render(service, { owner, code });

  t.match(await run(service, 'one', SETS), DONE);
  const [name = ''] = await packs(tex, ({ length }) => length === 1);
  const pack = join(tex, name);
  const whole = readFileSync(pack);

  t.match(await run(service, 'one', KNOWS), DONE, 'for other renders of the owner');
  t.match(await run(service, 'other', SETS), DONE, 'not for those of another');
  await packs(tex, ({ length }) => length === 2);

  await service.stop();
  service = await startService(t, { folder, workers: 1 });
  t.match(await run(service, 'one', KNOWS), DONE, 'across restarts');

  const attack = scene(
    'with open("tex-pack", "rb") as file: pack = file.read()',
    'for change in (lambda: open("tex-pack", "r+b").write(b"x" * len(pack)), lambda: os.remove("tex-pack")):',
    '    try: change()',
    '    except OSError: pass',
    'open("tex-pack.new", "wb").write(b"forged")',
    'import gc, socket',
    // The connection for reports is made after the one for the video.
    'sockets = [each for each in gc.get_objects() if isinstance(each, socket.socket)]',
    'channel = max(sockets, key=socket.socket.fileno)',
    'forged = {"type": "compiled", "documents": ["forged", 7, None, "\\\\begin{document}\\nx\\\\end{document}"]}',
    'channel.sendall(json.dumps(forged).encode() + b"\\n")',
    'channel.sendall(json.dumps({**forged, "documents": {"a": 1}}).encode() + b"\\n")',
    'self.wait(0.2)',
  );
  t.match(await run(service, 'one', attack), DONE);
  t.match(await run(service, 'one', KNOWS), DONE, 'and a scene can change nothing');
  t.same(readFileSync(pack), whole);

  for (const damaged of [
    whole.subarray(0, whole.length / 2),
    Buffer.from(whole).fill(0, 60, 90),
    Buffer.alloc(0),
  ]) {
    writeFileSync(pack, damaged);
    t.match(await run(service, 'one', SETS), DONE, 'what is damaged is set again');
    await packs(tex, () => !readFileSync(pack).equals(damaged));
  }

  const job = await run(service, 'other', KNOWS);
  await service.forget(job.jobId, { owner: 'other' });
  t.same(readdirSync(tex), [name], 'forgetting a job removes them');
  await service.forgetAll('one');
  t.same(readdirSync(tex), [], 'and so does forgetting an owner');
});
