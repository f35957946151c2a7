import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Duplex } from 'node:stream';
import { readLines } from '../../lib/base/line-reader.ts';
import { findingOf } from '../../lib/model/finding.ts';
import type { JobReport, RendererJob } from '../../lib/model/renderer-messages.ts';
import type { ForkCommand, JobEnded, JobEndReason } from '../../lib/model/zygote-messages.ts';
import type { Clock, Timer } from '../../lib/time/clock.ts';
import { failedReport } from '../fixtures/failed-report.ts';
import type { SimulatedSockets } from './simulated-sockets.ts';

const LONGEST_JOB_BYTES = 1024 * 1024;
const LONGEST_RENDER_MS = 20_000;
const LONGEST_ENCODING_MS = 1_000;
/** More lines than a channel reads at once. */
const FLOOD = 1_500;
const END_REASONS: JobEndReason[] = ['memory', 'disk', 'files', 'disk_full'];

/** What a fork needs of the process that it is a fork of. */
export interface Surroundings {
  clock: Clock;
  sockets: SimulatedSockets;
  random: () => number;
  /** True in that share of cases, while things fail. */
  fails: (share: number) => boolean;
}

/** A fork of a simulated renderer process: it connects, receives its job, reports and ends, or fails in every way. */
export class SimulatedFork {
  readonly command: ForkCommand;
  readonly #around: Surroundings;
  readonly #onEnd: (end: Omit<JobEnded, 'type' | 'job'>) => void;
  readonly #timers = new Set<Timer>();
  #channel: Duplex | undefined;
  #isOver = false;
  readonly #onJob: (job: RendererJob) => void;
  /** Undefined until it is received. */
  job: RendererJob | undefined;

  /** `onEnd`: called once, when all processes of the job are dead. */
  constructor(
    command: ForkCommand,
    around: Surroundings,
    {
      onJob,
      onEnd,
    }: { onJob: (job: RendererJob) => void; onEnd: (end: Omit<JobEnded, 'type' | 'job'>) => void },
  ) {
    this.command = command;
    this.#around = around;
    this.#onJob = onJob;
    this.#onEnd = onEnd;
    this.#later(50, () => this.#connect());
  }

  /** Ends it after a moment. */
  kill(): void {
    this.#later(200, () => this.#end({ signal: 'SIGKILL' }));
  }

  /** It is gone, and its end is not reported. */
  vanish(): void {
    this.#isOver = true;
    for (const timer of this.#timers) timer.cancel();
    hangUp(this.#channel);
  }

  #connect(): void {
    const { sockets, fails } = this.#around;
    if (fails(0.005)) return; // It hangs.
    if (!fails(0.02)) this.#channel = sockets.connect(this.command.socket);
    if (this.#channel) this.#listen(this.#channel);
    else this.#end({ exitCode: 70, problem: '/etc/fonts: No such file or directory' });
  }

  #listen(channel: Duplex): void {
    let isGiven = false;
    readLines(channel, LONGEST_JOB_BYTES, (line) => {
      if (isGiven) return this.#conclude();
      isGiven = true;
      this.#begin(JSON.parse(line) as RendererJob);
    });
  }

  #begin(job: RendererJob): void {
    this.job = job;
    this.#onJob(job);
    if (job.kind === 'encode') this.#encode();
    else if (job.kind === 'render' && job.className === 'Attack') this.#attack();
    else if (job.kind === 'render') this.#render(job.className);
    else if (job.kind === 'read') this.#read(job.code);
    else {
      this.#say({ type: 'scenes', names: ['A'] });
      this.#end({ exitCode: 0 });
    }
  }

  /** The code says what happens; else each of its lines is found. */
  #read(code: string): void {
    if (code.includes('hang')) return;
    if (code.includes('fail')) {
      this.#end({ signal: 'SIGSEGV' });
      return;
    }
    const found = (message: string, index: number) =>
      ({ ...findingOf({ error: message, failedBy: 'scene' }), line: index + 1 }) as const;
    this.#say({ type: 'read', findings: code.split('\n').map(found) });
    this.#end({ exitCode: 0 });
  }

  #attack(): void {
    const isLeaking = this.#around.fails(0.02);
    this.#say(failedReport(isLeaking ? 'SandboxLeaks: reads a file' : 'SandboxHolds'));
    this.#end({ exitCode: 1 });
  }

  #render(className: string): void {
    const { random, fails } = this.#around;
    const isLong = className !== 'Probe';
    const totalMs = isLong ? random() * LONGEST_RENDER_MS : 300;
    const at = (share: number, work: () => void) => this.#at(share * totalMs, work);
    const reports = this.#reports();
    if (fails(0.03)) reports.sort(() => random() - 0.5);
    for (const [index, report] of reports.entries()) {
      at(index / reports.length, () => this.#say(report));
    }
    // One of these at any moment: later steps are then not reached.
    const early = random();
    const faults: [share: number, work: () => void][] = [
      [0.03, () => this.#end({ exitCode: 1 })],
      [0.03, () => this.#end({ signal: 'SIGSEGV' })],
      [0.04, () => this.#end({ signal: 'SIGKILL', reason: this.#oneOf(END_REASONS) })],
      [0.02, () => this.#end({ signal: 'SIGKILL' })],
      [0.02, () => this.#end({ signal: 'SIGKILL', problem: 'its watch was killed' })],
      [0.02, () => this.#end({ exitCode: 1, shortage: 'no more processes' })],
      [0.03, () => this.#stall()],
      [0.03, () => this.#babble()],
    ];
    const fault = faults.find(([share]) => fails(share));
    if (fault) at(early, fault[1]);
    at(1, () => {
      if (isLong && random() < 0.1) this.#say(failedReport('NameError'));
      else this.#finish();
    });
  }

  #reports(): JobReport[] {
    const stage = (stage: 'loading' | 'rendering' | 'finishing') => ({ type: 'stage', stage }) as const;
    const progress = { type: 'progress', frames: 1, seconds: 1 } as const;
    const preview = { type: 'preview', jpeg: 'AAAA' } as const;
    const ms = { scene: 1, tex: 1, copy: 1, update: 1, draw: 1, encode: 1 };
    return [
      stage('loading'),
      stage('rendering'),
      progress,
      preview,
      { type: 'output', text: 'printed' },
      { type: 'plays', plays: [] },
      progress,
      stage('finishing'),
      { type: 'work', ms },
    ];
  }

  #finish(): void {
    const done: JobReport = { type: 'done' };
    if (this.#around.fails(0.02)) this.#channel?.write(JSON.stringify(done).slice(0, 20));
    else this.#say(done);
    if (this.#around.fails(0.02)) this.#say(failedReport('after it was done'));
    this.#end({ exitCode: 0 });
  }

  /** Waits for the end of its render, or fails before. */
  #encode(): void {
    const { random, fails } = this.#around;
    const refuse = () => {
      if (random() < 0.5) this.#say(failedReport('no video'));
      this.#end({ exitCode: 1 });
    };
    this.#say({ type: 'preview', jpeg: 'AAAA' });
    if (fails(0.04)) this.#at(random() * LONGEST_RENDER_MS, refuse);
    else if (fails(0.02)) {
      const act = () => (random() < 0.5 ? this.#stall() : this.#end({ signal: 'SIGKILL' }));
      this.#at(random() * LONGEST_RENDER_MS, act);
    }
  }

  /** The render has ended. */
  #conclude(): void {
    // The encoder isn't told how: here it has received the whole video by chance.
    const isCutOff = this.#around.fails(0.02);
    this.#later(LONGEST_ENCODING_MS, () => (isCutOff ? this.#end({ exitCode: 0 }) : this.#publish()));
  }

  #publish(): void {
    const { fails } = this.#around;
    if (!fails(0.01)) this.#write('video.mp4');
    this.#write('thumbnail.jpg');
    this.#say({ type: 'encoded', frames: 1, seconds: 1, copiedFrames: 0 });
    this.#end({ exitCode: 0 });
  }

  /** From now on it does nothing. */
  #stall(): void {
    for (const timer of this.#timers) timer.cancel();
  }

  #babble(): void {
    const { random } = this.#around;
    const chance = random();
    if (chance < 0.4)
      for (let lines = 0; lines < FLOOD; lines++) this.#say({ type: 'progress', frames: lines, seconds: 1 });
    else if (chance < 0.6) this.#channel?.write(`${'x'.repeat(200_000)}\n`);
    else if (chance < 0.8) this.#channel?.write('null\n[]\n{"type":"ended","job":"1"}\n{"type":3}\n{\n\n');
    else this.#channel?.end();
  }

  #say(report: JobReport): void {
    this.#channel?.write(`${JSON.stringify(report)}\n`);
  }

  /** The folder may be gone already when a worker's thread has crashed and its next one starts. */
  #write(name: string): void {
    const folder = dirname(this.command.socket);
    if (existsSync(folder)) writeFileSync(join(folder, name), 'content');
    else this.#end({ exitCode: 1 });
  }

  #end({
    exitCode = null,
    signal = null,
    reason = null,
    problem = null,
    shortage = null,
  }: Partial<JobEnded>): void {
    if (this.#isOver) return;
    this.vanish();
    this.#onEnd({ exitCode, signal, reason, memoryBytes: exitCode === 0 ? 1024 : null, problem, shortage });
  }

  #later(mostMs: number, work: () => void): void {
    this.#at(this.#around.random() * mostMs, work);
  }

  #at(ms: number, work: () => void): void {
    if (this.#isOver) return;
    const timer = this.#around.clock.after(ms, () => {
      this.#timers.delete(timer);
      work();
    });
    this.#timers.add(timer);
  }

  #oneOf<T>(all: T[]): T {
    return all[Math.floor(this.#around.random() * all.length)] as T;
  }
}

/** Closes a side as the kernel does when its process ends: the other side reads what was written, then the end. */
function hangUp(socket: Duplex | undefined): void {
  socket?.end();
  socket?.resume();
}
