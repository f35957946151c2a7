import { EventEmitter } from 'node:events';

/** The methods of Node's `EventEmitter`, typed here so that the types of the package need no `@types/node`. */
export interface Emitter<Events extends { [Name in keyof Events]: unknown[] }> {
  on<Name extends keyof Events>(name: Name, listener: (...args: Events[Name]) => void): this;
  once<Name extends keyof Events>(name: Name, listener: (...args: Events[Name]) => void): this;
  off<Name extends keyof Events>(name: Name, listener: (...args: Events[Name]) => void): this;
  addListener<Name extends keyof Events>(name: Name, listener: (...args: Events[Name]) => void): this;
  removeListener<Name extends keyof Events>(name: Name, listener: (...args: Events[Name]) => void): this;
  prependListener<Name extends keyof Events>(name: Name, listener: (...args: Events[Name]) => void): this;
  prependOnceListener<Name extends keyof Events>(name: Name, listener: (...args: Events[Name]) => void): this;
  removeAllListeners(name?: keyof Events): this;
  emit<Name extends keyof Events>(name: Name, ...args: Events[Name]): boolean;
  eventNames(): (string | symbol)[];
  listenerCount(name: keyof Events): number;
  // biome-ignore lint/complexity/noBannedTypes: as Node declares it.
  listeners(name: keyof Events): Function[];
  // biome-ignore lint/complexity/noBannedTypes: as Node declares it.
  rawListeners(name: keyof Events): Function[];
  getMaxListeners(): number;
  setMaxListeners(count: number): this;
}

/** Node's `EventEmitter`. */
export const EmitterBase: new <Events extends { [Name in keyof Events]: unknown[] }>() => Emitter<Events> =
  EventEmitter as never;

/** Emits an event. An error of a listener is thrown in the next tick: it must not affect the caller. */
export function tell<Events extends { [Name in keyof Events]: unknown[] }, Name extends keyof Events>(
  emitter: Emitter<Events>,
  name: Name,
  ...values: Events[Name]
): void {
  try {
    emitter.emit(name, ...values);
  } catch (error) {
    process.nextTick(() => {
      throw error;
    });
  }
}
