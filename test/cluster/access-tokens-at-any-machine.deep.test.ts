import t from 'tap';
import { listeningAppliance } from '../appliance/listening-appliance.ts';
import { httpClient } from '../appliance/mcp/clients.ts';
import { startIssuer } from '../fixtures/issuer.ts';
import { newSchema, serverUrl } from '../fixtures/postgres/database.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { MASTER_KEY } from './machines.ts';

t.test('a person who is linked at one machine is known to the others with the next request', async (t) => {
  const issuer = await startIssuer(t);
  const shared = {
    databaseUrl: await serverUrl(),
    databaseSchema: newSchema(),
    databaseConnections: 4,
    masterKey: MASTER_KEY,
    artifactDir: await temporaryFolder(t),
    publicUrl: 'https://renders.example.org',
    oidcIssuer: issuer.url,
  };
  const one = await listeningAppliance(t, { ...shared, machineName: 'one' });
  const other = await listeningAppliance(t, { ...shared, machineName: 'other' });
  const link = (at: typeof one, identity: { issuer: string; subject: string } | null) =>
    at.installation.administration.accounts.setIdentity({ account: 'ada@example.org', identity });
  const token = issuer.token({ aud: `${shared.publicUrl}/mcp`, sub: 'ada', scope: 'check' });
  const tools = async ({ url }: typeof one) => {
    const client = await httpClient(t, `${url}/mcp`, { headers: { authorization: `Bearer ${token}` } });
    return (await client.listTools()).tools.length;
  };
  await t.rejects(tools(other), /HTTP 403/);
  await link(one, { issuer: issuer.url, subject: 'ada' });
  t.same([await tools(one), await tools(other)], [3, 3]);
  await link(other, null);
  await t.rejects(tools(one), /HTTP 403/);
});
