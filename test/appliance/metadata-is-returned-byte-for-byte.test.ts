import fc from 'fast-check';
import t from 'tap';
import { type ListeningAppliance, listeningAppliance } from './listening-appliance.ts';

/** The text of the metadata in the response for a job created with it. */
async function echo({ post, askAs, key }: ListeningAppliance, metadata: string): Promise<string | undefined> {
  const made = await post(`{"code":"x","metadata": ${metadata} ,"className":"A"}`);
  if (made.status !== 202) return undefined;
  const { text } = await askAs(key, `/api/v2/render/${made.json['jobId']}`);
  return /"error":null,"metadata":(?<text>.*),"createdAt":"[^"]+","completedAt":null}$/s.exec(text)?.groups?.[
    'text'
  ];
}

t.test('metadata of every kind is returned as it was sent', async (t) => {
  const appliance = await listeningAppliance(t);
  const texts = [
    'null',
    'true',
    '7',
    '-0',
    '1.0',
    '1e400',
    '12345678901234567890',
    '0.1e-7',
    '""',
    '"text"',
    '"\\ud800"',
    '"\\u0000\\/\\""',
    '"日本 🎬"',
    '[]',
    '{}',
    '[ 1 ,\n\t2 ]',
    '{"a":1,"a":2}',
    '{"__proto__":{"x":1}}',
    '{"constructor":{"prototype":1}}',
    '{"metadata":"inner","code":""}',
    '"],}{[\\\\"',
    `${'['.repeat(50_000)}${']'.repeat(50_000)}`,
    `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`,
  ];
  for (const text of texts) t.equal(await echo(appliance, text), text, text.slice(0, 40));
});

t.test('metadata is null if the request has none', async (t) => {
  const { post, askAs, key } = await listeningAppliance(t);
  const { json } = await post({ code: 'x', className: 'A' });
  t.equal((await askAs(key, `/api/v2/render/${json['jobId']}`)).json['metadata'], null);
});

t.test('the last of several metadata members counts, also with escapes in its name', async (t) => {
  const { post, askAs, key } = await listeningAppliance(t);
  const { json } = await post('{"metadata":1,"code":"x","met\\u0061data":2.0,"className":"A"}');
  t.match((await askAs(key, `/api/v2/render/${json['jobId']}`)).text, '"metadata":2.0,');
});

t.test('any JSON value is returned as it was sent', async (t) => {
  const appliance = await listeningAppliance(t);
  const spaced = fc.tuple(fc.json({ maxDepth: 6 }), fc.constantFrom(undefined, 1, '\t'));
  await fc.assert(
    fc.asyncProperty(spaced, async ([json, space]) => {
      const text = JSON.stringify(JSON.parse(json), null, space);
      return (await echo(appliance, text)) === text;
    }),
    { numRuns: 100 },
  );
});
