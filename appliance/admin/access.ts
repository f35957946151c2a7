import { forbidden } from '@hapi/boom';
import type { Accounts, ApiKeys, RenderService } from '../../lib/index.ts';
import { type ClassLinks, ScenepressError } from '../../lib/internal.ts';
import { type Actor, type Acts, actOf } from './acts.ts';
import type { RemoteAdministration } from './admin-socket.ts';
import type { Administration } from './administration.ts';
import { OPERATIONS, type Operation } from './operations.ts';

type Request = Record<string, unknown>;
type Call = (request: Request) => Promise<unknown>;

interface AccessParts {
  administration: Administration;
  accounts: Accounts;
  classLinks: ClassLinks;
  keys: ApiKeys;
  service: RenderService;
  acts: Acts;
}

/**
 * The administration as an actor may use it: a member's requests are limited to its own account by {@link OPERATIONS},
 * and acts are recorded. For a member, other accounts' data gets the same errors as missing data.
 */
export function administrationFor(actor: Actor, parts: AccessParts): RemoteAdministration {
  const nouns = Object.entries(OPERATIONS).map(([noun, operations]) => [
    noun,
    Object.fromEntries(
      Object.entries(operations).map(([name, operation]) => [
        name,
        operationFor(actor, parts, { noun, name, operation }),
      ]),
    ),
  ]);
  return Object.fromEntries(nouns) as RemoteAdministration;
}

function operationFor(
  actor: Actor,
  parts: AccessParts,
  { noun, name, operation }: { noun: string; name: string; operation: Operation },
): Call {
  return async (request) => {
    const part = parts.administration[noun as keyof Administration] as unknown as Record<string, Call>;
    const given = request ?? {};
    const permitted =
      actor.isAdmin || actor.accountId === null
        ? given
        : await permit(given, operation.members, actor.accountId, parts);
    if (operation.isAct) parts.acts.assertWithinRate(actor);
    // Before the operation, because a deleted account can no longer be found.
    const account = operation.isAct ? await accountIn(given, parts) : null;
    const answer = await (part[name] as Call).call(part, permitted);
    if (operation.isAct) {
      const act = actOf(`${noun}.${name}`, given['paid']);
      await parts.acts.record(actor, act, idIn(given) ?? idIn(answer) ?? account);
    }
    return answer;
  };
}

/** A member's request, limited to its account. Errors: 403; those of missing data. */
async function permit(
  request: Request,
  on: Operation['members'],
  accountId: string,
  { accounts, classLinks, keys, service }: AccessParts,
): Promise<Request> {
  switch (on) {
    case 'anything':
      return request;
    case 'nothing':
      throw forbidden('Only administrators may do this.');
    case 'account': {
      const reference = request['account'];
      if (reference !== undefined) await requireOwnAccount(String(reference), accountId, accounts);
      return { ...request, account: accountId };
    }
    case 'key': {
      const keyId = String(request['keyId']);
      if ((await keys.find(keyId))?.accountId === accountId) return request;
      throw new ScenepressError('not_found', `There is no key ${keyId.slice(0, 80)}.`);
    }
    case 'job':
      await service.get(String(request['jobId']), { owner: accountId });
      return request;
    case 'file':
      await service.files.get(String(request['fileId']), { owner: accountId });
      return request;
    case 'share':
      await service.shares.get(String(request['shareId']), { owner: accountId });
      return request;
    case 'scene':
      await service.scenes.get(String(request['sceneId']), { owner: accountId });
      return request;
    case 'assignment':
      await service.assignments.get(String(request['assignmentId']), { owner: accountId });
      return request;
    case 'classLink':
      await classLinks.get(String(request['classLinkId']), { owner: accountId });
      return request;
    case 'delivery':
      await service.deliveries.get(String(request['deliveryId']), { owner: accountId });
      return request;
  }
}

async function requireOwnAccount(reference: string, accountId: string, accounts: Accounts): Promise<void> {
  const own = await accounts.find(accountId);
  if (reference === accountId || reference.toLowerCase() === own.email.toLowerCase()) return;
  const name = reference.includes('@') ? `with the address ${reference}` : reference.slice(0, 80);
  throw new ScenepressError('not_found', `There is no account ${name}.`);
}

/** Its id: e-mail addresses are forgotten with their accounts, acts are not. */
async function accountIn(request: Request, { accounts }: AccessParts): Promise<string | null> {
  const reference = request['account'];
  if (reference === undefined) return null;
  const account = await accounts.find(String(reference), { deleted: true }).catch(() => undefined);
  return account?.accountId ?? null;
}

/** Of the object of an act; who opens an assignment gets a scene of it. */
const IDS = [
  ...['keyId', 'jobId', 'fileId', 'assignmentId', 'classLinkId', 'sceneId', 'shareId', 'deliveryId'],
  ...['machineId', 'userId'],
];

function idIn(value: unknown): string | null {
  const ids = IDS.map((name) => (value as Request | null)?.[name]);
  return (ids.find((id) => typeof id === 'string') as string | undefined) ?? null;
}
