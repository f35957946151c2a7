// The thread that communicates with receivers (DNS, TCP, TLS, HTTP), so they cannot block the event loop of the
// service.
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../time/clock.ts';
import { type ExchangeResult, Outbound, type OutboundRequest } from './outbound.ts';
import type { Resolve } from './resolver.ts';

/** The worker data of {@link OutboundThread}. */
export interface SendingThreadData {
  allowNetworks: readonly string[];
  ca: readonly string[];
  timeoutMs?: number;
  /** True when the main thread resolves names, with a custom `resolve`. */
  asksForNames: boolean;
}

export type ToThread =
  | { type: 'post'; id: number; request: OutboundRequest }
  | { type: 'abort'; id: number }
  | { type: 'found'; lookup: number; addresses: string[] }
  | { type: 'not found'; lookup: number; code: string | undefined; message: string }
  | { type: 'ping' };

export type FromThread =
  | { type: 'ready' }
  | { type: 'ended'; id: number; result: ExchangeResult }
  | { type: 'look up'; lookup: number; name: string }
  | { type: 'give up'; lookup: number }
  | { type: 'pong' };

const data = workerData as SendingThreadData;
const port = parentPort as MessagePort;
const post = (message: FromThread) => port.postMessage(message);

const controllers = new Map<number, AbortController>();
const lookups = new Map<number, PromiseWithResolvers<string[]>>();
let lastLookup = 0;

const askForName: Resolve = async (name, signal) => {
  lastLookup += 1;
  const lookup = lastLookup;
  const asked = Promise.withResolvers<string[]>();
  lookups.set(lookup, asked);
  signal.addEventListener('abort', () => post({ type: 'give up', lookup }), { once: true });
  post({ type: 'look up', lookup, name });
  return asked.promise.finally(() => lookups.delete(lookup));
};

const { allowNetworks, ca, timeoutMs, asksForNames } = data;
const outbound = new Outbound(
  {
    allowNetworks,
    ca,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(asksForNames && { resolve: askForName }),
  },
  systemClock,
);

port.on('message', (message: ToThread) => {
  switch (message.type) {
    case 'post':
      void send(message.id, message.request);
      break;
    case 'abort':
      controllers.get(message.id)?.abort();
      break;
    case 'found':
      lookups.get(message.lookup)?.resolve(message.addresses);
      break;
    case 'not found': {
      const { code, message: text } = message;
      lookups.get(message.lookup)?.reject(Object.assign(new Error(text), code !== undefined && { code }));
      break;
    }
    case 'ping':
      post({ type: 'pong' });
  }
});

async function send(id: number, request: OutboundRequest): Promise<void> {
  const controller = new AbortController();
  controllers.set(id, controller);
  const result = await outbound.post(request, controller.signal);
  controllers.delete(id);
  post({ type: 'ended', id, result });
}

post({ type: 'ready' });
