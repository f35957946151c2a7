import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import t from 'tap';
import { newClient, textOf } from '../../appliance/mcp/clients.ts';
import { buildProgram, machinesUnavailable } from '../network-namespace.ts';

const skip = machinesUnavailable();

t.test('the tools of MCP and their guide are in the executable', { skip }, async (t) => {
  const client = newClient('2026-07-28');
  const env = { PATH: process.env['PATH'] ?? '' };
  t.teardown(() => client.close());
  await client.connect(new StdioClientTransport({ command: buildProgram(), args: ['mcp'], env }));
  const { tools } = await client.listTools();
  t.same(
    tools.map(({ name }) => name),
    ['guide', 'check', 'inspect', 'render', 'job'],
  );
  t.match(textOf(await client.callTool({ name: 'guide' })), /^# /);
});
