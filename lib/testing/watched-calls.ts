/** A call that has not ended, such as `put`. */
export interface PendingCall {
  name: string;
}

/**
 * The subject; `pending` has those of its calls that have not ended. Methods run on the subject itself: it may have private
 * members, and its own calls are not listed.
 */
export function watched<T extends object>(subject: T, pending: Set<PendingCall>): T {
  const member = (name: string | symbol): unknown => {
    const value: unknown = Reflect.get(subject, name, subject);
    if (typeof value !== 'function') return value;
    return (...args: unknown[]) => noted(Reflect.apply(value, subject, args), String(name), pending);
  };
  // Not of the subject, which may be frozen: a proxy must return the members of a frozen object as they are.
  return new Proxy({}, { get: (_, name) => member(name), has: (_, name) => name in subject }) as T;
}

function noted(result: unknown, name: string, pending: Set<PendingCall>): unknown {
  if (isThenable(result)) return during(result, name, pending);
  if (isIterable(result)) return each(result, name, pending);
  return result;
}

export async function during<T>(result: PromiseLike<T>, name: string, pending: Set<PendingCall>): Promise<T> {
  const call = { name };
  pending.add(call);
  try {
    return await result;
  } finally {
    pending.delete(call);
  }
}

async function* each(items: AsyncIterable<unknown>, name: string, pending: Set<PendingCall>) {
  const iterator = items[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await during(iterator.next(), name, pending);
      if (done) return;
      yield value;
    }
  } finally {
    await iterator.return?.();
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

function isIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
