import {
  isoTime,
  MACHINE_DEAD_AFTER_MS,
  type Machine,
  type MachineStore,
  QUALITY_NAMES,
  ScenepressError,
} from '../../lib/internal.ts';
import type { AdministrationParts } from './administration.ts';
import type { MachineDifference, MachineInfo } from './service-views.ts';

/** The processes of an installation with a database. Requests and answers are plain data. */
export class MachineAdministration {
  readonly #store: MachineStore | undefined;

  constructor({ place }: Pick<AdministrationParts, 'place'>) {
    this.#store = place.machineStore;
  }

  /** Null for an installation without a database, which is one process. `warnings`: what no machine does. */
  async list(): Promise<{ machines: MachineInfo[] | null; warnings: string[] }> {
    if (!this.#store) return { machines: null, warnings: [] };
    const machines = machineInfos(await this.#store.list());
    return { machines, warnings: missingRoles(machines) };
  }

  /** Lets a machine finish its renders, take no more and exit. */
  async drain({ machine }: { machine: string }): Promise<MachineInfo> {
    const found = await this.#find(machine);
    if (found.state === 'dead')
      throw new ScenepressError('conflict', `${nameOf(found)} is dead. Forget it instead.`);
    await this.#machines.requestDrain(found.machineId);
    return { ...found, state: 'draining' };
  }

  /** Removes a dead machine from the list. Other machines render its jobs in any case. */
  async forget({ machine }: { machine: string }): Promise<MachineInfo> {
    const found = await this.#find(machine);
    if (found.state !== 'dead') {
      throw new ScenepressError(
        'conflict',
        `${nameOf(found)} is alive: it reported at ${found.seenAt}. Stop it, or drain it with \`scenepress machine drain\`.`,
      );
    }
    await this.#machines.remove(found.machineId);
    return found;
  }

  get #machines(): MachineStore {
    if (this.#store) return this.#store;
    const message = 'This installation has no database, so it has one machine only. Stop it with SIGTERM.';
    throw new ScenepressError('conflict', message);
  }

  /** By its id, or by its name if no other has it. */
  async #find(reference: string): Promise<MachineInfo> {
    const all = machineInfos(await this.#machines.list());
    const named = all.filter(({ name, machineId }) => machineId === reference || name === reference);
    const [machine] = named;
    if (!machine)
      throw new ScenepressError('not_found', `There is no machine ${String(reference).slice(0, 80)}.`);
    if (named.length === 1) return machine;
    const ids = named.map(({ machineId }) => machineId).join(', ');
    throw new ScenepressError(
      'conflict',
      `Several machines have the name ${machine.name}. Use an id: ${ids}.`,
    );
  }
}

function nameOf({ name, machineId }: MachineInfo): string {
  return `The machine ${name} (${machineId})`;
}

/** The machines, each compared with the others. */
export function machineInfos(machines: Machine[]): MachineInfo[] {
  const usual = usualOf(machines.filter(({ unseenForMs }) => unseenForMs <= MACHINE_DEAD_AFTER_MS));
  return machines.map((machine) => machineInfo(machine, usual));
}

/** What is compared, by name. */
function comparedOf({ version, settings, limits }: Machine): Record<string, string> {
  return { version, ...settings, ...limits };
}

/** The values that most machines have; of those that as many have, that of the machine that started first. */
function usualOf(machines: Machine[]): Map<string, string> {
  const all = Map.groupBy(
    machines.flatMap((machine) => Object.entries(comparedOf(machine))),
    ([name]) => name,
  );
  return new Map(
    [...all].map(([name, entries]) => {
      const same = [...Map.groupBy(entries, ([, value]) => value).entries()];
      const [most] = same.toSorted(([, a], [, b]) => b.length - a.length);
      return [name, most?.[0] ?? ''];
    }),
  );
}

function differencesOf(machine: Machine, usual: Map<string, string>): MachineDifference[] {
  return Object.entries(comparedOf(machine)).flatMap(([name, value]) => {
    const others = usual.get(name) ?? value;
    return others === value ? [] : [{ name, value, others }];
  });
}

function machineInfo(machine: Machine, usual: Map<string, string>): MachineInfo {
  const { unseenForMs, startedAtMs, seenAtMs, drainRequestedAtMs, roles, state, ...others } = machine;
  const isDraining = drainRequestedAtMs !== null || state === 'draining';
  return {
    ...others,
    roles: [...roles],
    qualities: machine.qualities && [...machine.qualities],
    state: unseenForMs > MACHINE_DEAD_AFTER_MS ? 'dead' : isDraining ? 'draining' : state,
    settings: { ...machine.settings },
    limits: { ...machine.limits },
    differences: unseenForMs > MACHINE_DEAD_AFTER_MS ? [] : differencesOf(machine, usual),
    startedAt: isoTime(startedAtMs),
    seenAt: isoTime(seenAtMs),
  };
}

/** What is missing for jobs to be accepted, rendered and reported: sentences. */
export function missingRoles(machines: MachineInfo[]): string[] {
  return [...withoutRole(machines, ['api', 'worker', 'sender', 'upkeep']), ...missingQualities(machines)];
}

/** Sentences that say why no jobs, or none of some qualities, are rendered. */
export function missingWorkers(machines: MachineInfo[]): string[] {
  return [...withoutRole(machines, ['worker']), ...missingQualities(machines)];
}

function isInUse({ state }: MachineInfo): boolean {
  return state !== 'dead' && state !== 'draining';
}

function missingQualities(machines: MachineInfo[]): string[] {
  const alive = machines.filter(isInUse);
  const rendered = new Set(
    alive.flatMap(({ roles, qualities }) => (roles.includes('worker') ? (qualities ?? QUALITY_NAMES) : [])),
  );
  const missing = rendered.size === 0 ? [] : QUALITY_NAMES.filter((quality) => !rendered.has(quality));
  return missing.map((quality) => `No machine renders the quality ${quality}: such jobs wait.`);
}

function withoutRole(machines: MachineInfo[], roles: (keyof typeof WITHOUT_ROLE)[]): string[] {
  const had = new Set<string>(machines.filter(isInUse).flatMap((machine) => machine.roles));
  const missing = roles.filter((role) => !had.has(role));
  return missing.map((role) => `No machine has the role ${role}: ${WITHOUT_ROLE[role]}.`);
}

const WITHOUT_ROLE = {
  api: 'no requests are accepted',
  worker: 'nothing is rendered',
  sender: 'no webhooks are sent',
  upkeep: 'jobs of dead workers are not put back, and old artifacts are kept',
};
