import { EventEmitter } from 'node:events';
import type { AnyResult, AnyTask } from '../../lib/model/render-task.ts';
import type { Threads } from '../../lib/render/pool/threads.ts';
import type { WorkerData, WorkerMessage } from '../../lib/render/pool/worker-data.ts';
import { startWorkerThread } from '../../lib/render/pool/worker-thread.ts';
import type { Processes } from '../../lib/render/start/processes.ts';
import type { Clock, Timer } from '../../lib/time/clock.ts';
import type { SimulatedPython } from './simulated-python.ts';

type Task = AnyTask;
type Result = AnyResult;

interface Waiting {
  task: Task;
  resolve: (result: Result) => void;
  reject: (error: Error) => void;
}

interface Thread {
  threadId: number;
  run: (task: Task) => Promise<Result>;
  work: Waiting | undefined;
  /** From now on it does nothing, and nothing can reach it. */
  cut: () => void;
}

/** The threads of a pool in one thread, under virtual time. They run the same code; a crash takes everything from it. */
export class SimulatedThreads extends EventEmitter {
  readonly #size: number;
  readonly #data: WorkerData;
  readonly #clock: Clock;
  readonly #python: SimulatedPython;
  readonly #waiting: Waiting[] = [];
  #threadIds = 0;
  #isDestroyed = false;
  threads: Thread[] = [];

  private constructor(size: number, data: WorkerData, options: { clock: Clock; python: SimulatedPython }) {
    super();
    this.#size = size;
    this.#data = data;
    this.#clock = options.clock;
    this.#python = options.python;
  }

  static start(
    size: number,
    data: WorkerData,
    options: { clock: Clock; python: SimulatedPython },
  ): SimulatedThreads {
    const threads = new SimulatedThreads(size, data, options);
    threads.#fill();
    return threads;
  }

  /** The same, as a Piscina. */
  get asPiscina(): Threads {
    return this as unknown as Threads;
  }

  run(task: Task): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ task, resolve, reject });
      this.#assign();
    });
  }

  async destroy(): Promise<void> {
    this.#isDestroyed = true;
    for (const thread of this.threads.splice(0)) this.#end(thread, new Error('Terminating worker thread'));
    for (const { reject } of this.#waiting.splice(0)) reject(new Error('Terminating worker thread'));
  }

  /** Ends the thread with that number, modulo their count, as a bug in it or in a native module does. */
  crash(number: number): void {
    const [thread] = this.threads.splice(number % Math.max(1, this.threads.length), 1);
    if (!thread) return;
    const error = new Error('Worker exited with code 1');
    if (!thread.work) this.emit('error', error);
    this.#end(thread, error);
    this.#fill();
    this.#assign();
  }

  #end(thread: Thread, error: Error): void {
    thread.cut();
    if (thread.work && 'port' in thread.work.task) thread.work.task.port.close();
    thread.work?.reject(error);
  }

  #fill(): void {
    while (!this.#isDestroyed && this.threads.length < this.#size) this.threads.push(this.#thread());
  }

  #thread(): Thread {
    const threadId = ++this.#threadIds;
    const [clock, processes] = [new CutClock(this.#clock), new CutProcesses(this.#python)];
    let isCut = false;
    const post = (message: WorkerMessage) => {
      if (!isCut) this.emit('message', message);
    };
    const run = startWorkerThread(this.#data, { threadId, post, clock, processes });
    const cut = () => {
      isCut = true;
      clock.cut();
      processes.cut();
    };
    return { threadId, run, cut, work: undefined };
  }

  #assign(): void {
    for (const thread of this.threads) {
      if (thread.work) continue;
      const work = this.#waiting.shift();
      if (!work) return;
      thread.work = work;
      const over = () => {
        thread.work = undefined;
        if (this.threads.includes(thread)) this.#assign();
      };
      thread.run(work.task).then(work.resolve, work.reject).finally(over);
    }
  }
}

/** The clock of a thread. */
class CutClock implements Clock {
  readonly #clock: Clock;
  readonly #timers = new Set<Timer>();
  #isCut = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  uptimeMs(): number {
    return this.#clock.uptimeMs();
  }

  after(ms: number, work: () => void): Timer {
    if (this.#isCut) return { cancel: () => {} };
    const timer = this.#clock.after(ms, () => {
      this.#timers.delete(timer);
      work();
    });
    return this.#added(timer);
  }

  every(ms: number, work: () => void): Timer {
    if (this.#isCut) return { cancel: () => {} };
    return this.#added(this.#clock.every(ms, work));
  }

  cut(): void {
    this.#isCut = true;
    for (const timer of this.#timers) timer.cancel();
  }

  #added(timer: Timer): Timer {
    this.#timers.add(timer);
    return {
      cancel: () => {
        this.#timers.delete(timer);
        timer.cancel();
      },
    };
  }
}

/** The processes of a thread, which the kernel ends with it. */
class CutProcesses implements Processes {
  readonly #python: SimulatedPython;
  readonly #pids = new Set<number>();
  #isCut = false;

  constructor(python: SimulatedPython) {
    this.#python = python;
  }

  spawn: Processes['spawn'] = (line) => {
    if (this.#isCut) throw new Error('the thread has ended');
    const child = this.#python.spawn(line);
    this.#pids.add(child.pid as number);
    return child;
  };

  accept: Processes['accept'] = async (options) => {
    if (this.#isCut) throw new Error('the thread has ended');
    return this.#python.accept(options);
  };

  killTree(pid: number): void {
    this.#python.killTree(pid);
  }

  killSession(): void {}

  cut(): void {
    this.#isCut = true;
    for (const pid of this.#pids) this.#python.killTree(pid);
  }
}
