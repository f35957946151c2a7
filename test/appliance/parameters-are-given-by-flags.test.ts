import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import t from 'tap';
import { addParamFlags, type ParamFlags, paramsOfFlags } from '../../appliance/cli/param-flags.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

function given(...args: string[]): ReturnType<typeof paramsOfFlags> {
  const command = addParamFlags(new Command('render'))
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  return paramsOfFlags(command.parse(args, { from: 'user' }).opts<ParamFlags>());
}

t.test('a value is JSON, or else a text', (t) => {
  t.same(given(), {});
  const flags = ['name=Ada', 'n=1.5', 'list=[1, "b"]', 'text="7"', 'empty=', 'rule=a=b', 'name=Emmy'];
  t.same(given(...flags.flatMap((flag) => ['--param', flag])), {
    params: { name: 'Emmy', n: 1.5, list: [1, 'b'], text: '7', empty: '', rule: 'a=b' },
  });
  for (const wrong of ['name', '=1', ''])
    t.throws(() => given('--param', wrong), { message: /Expected name=value/ }, wrong);
  t.end();
});

t.test('a file has an object; flags take precedence', async (t) => {
  const folder = await temporaryFolder(t);
  const [file, list] = [join(folder, 'values.json'), join(folder, 'list.json')];
  await writeFile(file, '{"name": "Ada", "n": 1}');
  await writeFile(list, '[1]');
  t.same(given('--params', file, '--param', 'n=2'), { params: { name: 'Ada', n: 2 } });
  t.throws(() => given('--params', list), { message: /a file with a JSON object/ });
  t.throws(() => given('--params', join(folder, 'none')), { message: /It can't be read: ENOENT/ });
});
