import { join } from 'node:path';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import t, { type Test } from 'tap';
import { MAIN } from '../appliance/command.ts';
import { listeningAppliance } from '../appliance/listening-appliance.ts';
import { httpClient, newClient, textOf } from '../appliance/mcp/clients.ts';
import { jpegSize } from '../fixtures/jpeg.ts';
import { processesBelow, stillRunning } from '../fixtures/processes.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { inspectVideo } from '../fixtures/video.ts';

const BROKEN = `from manim import *


class Squares(Scene):
    def construct(self):
        square = Sqare()
        self.play(Create(square), run_time=0.4)
        self.play(square.animate.shift(7 * RIGHT), run_time=0.2)
`;
const CODE = BROKEN.replace('Sqare', 'Square');
const SCENE = { className: 'Squares', quality: 'low' };

type Client = ReturnType<typeof newClient>;
type Content = Awaited<ReturnType<Client['callTool']>>['content'];

function picturesOf(content: Content): Buffer[] {
  return content.flatMap((block) => (block.type === 'image' ? [Buffer.from(block.data, 'base64')] : []));
}

/** As an agent works: it checks, corrects, looks and renders. */
async function author(t: Test, client: Client): Promise<Awaited<ReturnType<Client['callTool']>>> {
  const call = (name: string, options: object) => client.callTool({ name, arguments: { ...options } });
  const found = await call('check', { code: BROKEN });
  t.match(textOf(found), /^line 6: error: .*Sqare.* \[scene:name\]\n {2}hint: .*Square/);
  t.match((await call('check', { code: BROKEN, noRun: true })).structuredContent, { ok: false });
  t.match(await call('render', { code: BROKEN, ...SCENE }), { isError: true });
  t.match((await call('check', { code: CODE })).structuredContent, { ok: true, findings: [] });

  const inspected = await call('inspect', { code: CODE, className: 'Squares' });
  t.match(
    textOf(inspected),
    /\[layout:off-frame\][\s\S]*\nSquares: 2 plays, 0\.\d s\n {2}0\.0 s to 0\.4 s: Create\(Square\) \(line 7\)/,
  );
  const [sheet, ...others] = picturesOf(inspected.content);
  t.same(others, []);
  const [width, height] = jpegSize(sheet ?? Buffer.alloc(0));
  t.ok(width * height <= 1_150_000 && (sheet?.length ?? 0) <= 200_000, 'the sheet is small');

  const made = await call('render', { code: CODE, ...SCENE });
  t.match(made.structuredContent, {
    status: 'completed',
    plays: [{ startSeconds: 0, line: 7 }, { line: 8 }],
  });
  t.same(picturesOf(made.content).map(jpegSize), [[640, 360]]);
  return made;
}

t.test('an agent makes a video over standard input and output', async (t) => {
  const folder = await temporaryFolder(t);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, 'mcp', '--output-dir', folder],
    env: { PATH: process.env['PATH'] ?? '', XDG_CACHE_HOME: folder },
  });
  const client = newClient('2026-07-28');
  t.teardown(() => client.close());
  await client.connect(transport);
  await author(t, client);
  t.match(await inspectVideo(join(folder, 'Squares.mp4')), { widthPx: 854, heightPx: 480, fps: 15 });
  const processes = processesBelow(transport.pid ?? 0);
  t.ok(processes.length > 0);
  await client.close();
  t.same(stillRunning(processes), [], 'no process is left');
});

t.test('an agent makes a video over standard input and output, by a service elsewhere', async (t) => {
  const { url, key, ask } = await listeningAppliance(t, { renders: true });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, 'mcp', '--server', url],
    env: { PATH: process.env['PATH'] ?? '', SCENEPRESS_KEY: key },
  });
  const client = newClient('2026-07-28');
  t.teardown(() => client.close());
  await client.connect(transport);
  const { structuredContent } = await author(t, client);
  const { video } = structuredContent as { video: string };
  t.match(await ask(new URL(video).pathname), { status: 200, headers: { 'content-type': 'video/mp4' } });
  t.same(processesBelow(transport.pid ?? 0), [], 'no renderer was started');
});

t.test('an agent makes a video over HTTP', async (t) => {
  const { url, key, ask } = await listeningAppliance(t, { renders: true });
  const client = await httpClient(t, `${url}/mcp`, { headers: { authorization: `Bearer ${key}` } });
  const { structuredContent } = await author(t, client);
  const { video, creditsCost } = structuredContent as { video: string; creditsCost: number };
  t.ok(creditsCost >= 1);
  t.match(await ask(new URL(video).pathname), { status: 200, headers: { 'content-type': 'video/mp4' } });
});
