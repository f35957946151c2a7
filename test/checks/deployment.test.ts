import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse, parseAllDocuments } from 'yaml';
import { createProgram } from '../../appliance/cli/program.ts';
import { SERVICE_ROLES } from '../../appliance/cli/service-unit.ts';
import type { Config } from '../../appliance/config/config.ts';
import { OPTIONS, variableOf } from '../../appliance/config/options.ts';
import { scenepress } from '../appliance/command.ts';
import { testFolder } from '../fixtures/test-folder.ts';

const FOLDER = join(import.meta.dirname, '../../appliance/deployment');
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8');
const VARIABLES = new Set((Object.keys(OPTIONS) as (keyof Config)[]).map(variableOf));
const { commands: COMMANDS } = await createProgram();

/** A command line of a file is one that the program has, with flags that the command has. */
function isCommand([name = '', ...words]: string[]): boolean {
  const command = COMMANDS.find((command) => command.name() === name);
  const flags = words.filter((word) => word.startsWith('--'));
  return command !== undefined && flags.every((flag) => command.options.some(({ long }) => long === flag));
}

interface Container {
  args: string[];
  env: { name: string; value?: string }[];
  volumeMounts: { name: string }[];
  securityContext: Record<string, unknown>;
}
interface PodSpec {
  terminationGracePeriodSeconds: number;
  securityContext: { runAsNonRoot?: boolean; seccompProfile?: { type: string } };
  containers: Container[];
  volumes: { name: string; secret?: { items?: { key: string }[] } }[];
}
interface Resource {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace: string };
  data: Record<string, string>;
  spec: {
    selector: { matchLabels: Record<string, string> };
    template: { metadata: { labels: Record<string, string> }; spec: PodSpec };
  };
}

t.test('the compose file names existing options, commands and files', async (t) => {
  const { services, volumes } = parse(read('compose.yaml'), { merge: true }) as {
    services: Record<
      string,
      {
        command?: string[];
        environment?: Record<string, string>;
        volumes: string[];
        security_opt?: string[];
        depends_on?: object;
      }
    >;
    volumes: object;
  };
  t.match(Object.keys(services), ['postgres', 's3', 'api', 'worker']);
  for (const name of ['api', 'worker'] as const) {
    const { command = [], environment = {}, depends_on = {} } = services[name] ?? {};
    t.ok(isCommand(command), `${name}: ${command.join(' ')}`);
    for (const variable of Object.keys(environment)) t.ok(VARIABLES.has(variable), variable);
    for (const other of Object.keys(depends_on)) t.ok(Object.hasOwn(services, other), other);
  }
  for (const service of Object.values(services))
    for (const volume of service.volumes.filter((text) => text.includes(':')))
      t.ok(Object.hasOwn(volumes, volume.split(':')[0] ?? ''), volume);
  t.ok('SCENEPRESS_MASTER_KEY' in (services['api']?.environment ?? {}));
  t.notOk('SCENEPRESS_MASTER_KEY' in (services['worker']?.environment ?? {}));
  const profile = services['worker']?.security_opt?.find((text) => text.startsWith('seccomp:')) ?? '';
  t.ok(existsSync(join(FOLDER, profile.slice('seccomp:'.length))));
});

t.test('the Kubernetes manifests are consistent', async (t) => {
  const documents = parseAllDocuments(read('kubernetes.yaml'));
  for (const { errors } of documents) t.same(errors, []);
  const resources = documents.map((document) => document.toJS() as Resource);
  for (const { apiVersion, kind, metadata } of resources) {
    t.ok(apiVersion && kind && metadata.name);
    t.equal(metadata.namespace, 'scenepress');
  }
  const [configuration] = resources.filter(({ kind }) => kind === 'ConfigMap');
  for (const variable of Object.keys(configuration?.data ?? {})) t.ok(VARIABLES.has(variable), variable);
  const deployments = resources.filter(({ kind }) => kind === 'Deployment');
  t.equal(deployments.length, 2);
  for (const { metadata, spec } of deployments) {
    t.match(spec.template.metadata.labels, spec.selector.matchLabels);
    const { terminationGracePeriodSeconds, securityContext, containers, volumes } = spec.template.spec;
    const [container] = containers as [Container];
    t.ok(isCommand(container.args), container.args.join(' '));
    t.match(container, {
      readinessProbe: { httpGet: { path: '/health/ready' } },
      livenessProbe: { httpGet: { path: '/health/live' } },
    });
    t.match(securityContext, { runAsNonRoot: true, seccompProfile: {} });
    t.match(container.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    for (const { name } of container.env) t.ok(VARIABLES.has(name), name);
    t.same(container.volumeMounts.map(({ name }) => name).sort(), volumes.map(({ name }) => name).sort());
    const drain = container.env.find(({ name }) => name === 'SCENEPRESS_DRAIN_SECONDS')?.value ?? '30';
    const hasKey = container.env.some(({ name }) => name === 'SCENEPRESS_MASTER_KEY_FILE');
    const secrets = volumes.find(({ name }) => name === 'secrets')?.secret;
    t.equal(hasKey, metadata.name === 'api');
    t.equal(secrets?.items?.some(({ key }) => key === 'master-key') ?? true, hasKey);
    t.ok(terminationGracePeriodSeconds > Number(drain), `${metadata.name} may drain`);
  }
});

const noSystemd = spawnSync('systemd-analyze', ['--version']).error !== undefined && 'there is no systemd';

t.test('the units of the roles are valid', { skip: noSystemd }, async (t) => {
  for (const [role, { command }] of Object.entries(SERVICE_ROLES)) {
    t.ok(isCommand(command), command.join(' '));
    const { code, stdout } = await scenepress(['install-service', '--print', '--role', role]);
    t.equal(code, 0);
    const unit = join(testFolder(t), `scenepress-${role}.service`);
    writeFileSync(unit, stdout.slice(stdout.indexOf('[Unit]')));
    const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', unit], { encoding: 'utf8' });
    t.notMatch(
      stderr,
      new RegExp(`scenepress-${role}\\.service:.*(Unknown|Invalid|Failed|not executable|ignoring)`, 'i'),
      stderr,
    );
    t.match(stdout, new RegExp(`^StateDirectory=scenepress-${role}$`, 'm'));
    // The master key is in the other one.
    const environment = role === 'worker' ? 'worker-environment' : 'environment';
    t.same(stdout.match(/^EnvironmentFile=.*$/gm), [`EnvironmentFile=-/etc/scenepress/${environment}`]);
  }
  t.match(await scenepress(['install-service', '--print', '--role', 'cook']), {
    code: 2,
    stderr: /A role is one of api, worker, upkeep/,
  });
});
