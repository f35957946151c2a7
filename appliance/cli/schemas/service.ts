import Joi from 'joi';
import type { ServiceStatus } from '../../../lib/index.ts';
import {
  type BackupsInfo,
  PROBLEM_PARTS,
  type SandboxLimits,
  type SandboxStatus,
} from '../../../lib/internal.ts';
import type {
  DiskInfo,
  MachineDifference,
  MachineInfo,
  QueueInfo,
  RetentionInfo,
  ServiceInfo,
} from '../../admin/service-views.ts';
import type { Finding } from '../../doctor/finding.ts';
import type { Readiness } from '../../http/health.ts';
import { count, list, number, object, oneOf, orNull, quality, record, text, time, yes } from './parts.ts';

const problems = list(
  object<ServiceStatus['problems'][number]>({
    part: Joi.string()
      .valid(...PROBLEM_PARTS)
      .description('What has the problem.'),
    message: text.description('The problem and its remedy.'),
  }),
).description('Why it cannot render at present; empty if it can.');
const warnings = list(text).description('Sentences; conditions that clients notice or that become problems.');

const level = oneOf<SandboxStatus['level']>({ full: true, watched: true, reduced: true, none: true });
const limits = object<SandboxLimits>({
  memory: oneOf<SandboxLimits['memory']>({ kernel: true, watch: true }),
  processes: oneOf<SandboxLimits['processes']>({ kernel: true, user: true }),
  disk: oneOf<SandboxLimits['disk']>({ kernel: true, watch: true }),
}).description('What enforces the limits of a whole render.');

const ofReadiness = {
  status: oneOf<Readiness['status']>({ ready: true, 'not ready': true }),
  sandbox: orNull(level).description('How well scenes are isolated; null until a renderer is warm.'),
  limits: limits.allow(null),
  queue: oneOf<Readiness['queue']>({ running: true, paused: true }),
  disk: oneOf<Readiness['disk']>({ ok: true, full: true }),
  problems,
  warnings,
};

/** What the server answered, and less if it does not answer or with `--live`. */
export const health: Joi.ObjectSchema = object<Readiness>({
  ...ofReadiness,
  status: oneOf<Readiness['status'] | 'live'>({ ready: true, 'not ready': true, live: true }),
  sandbox: ofReadiness.sandbox.optional(),
  limits: ofReadiness.limits.optional(),
  queue: ofReadiness.queue.optional(),
  disk: ofReadiness.disk.optional(),
  warnings: warnings.optional(),
});

type Renderer = NonNullable<ServiceStatus['renderer']>;
type SandboxProblems = Required<SandboxStatus['problems']>;

const status = object<ServiceStatus>({
  ready: yes.description('Whether there are no problems.'),
  problems,
  warnings,
  workers: count.description('How many scenes it can render at the same time.'),
  idleWorkers: count,
  warmWorkers: count.description('Workers with a warm renderer process.'),
  rendererDeaths: count.description('Renderer processes that died or failed to start since the start.'),
  queued: count,
  oldestQueuedAt: time.allow(null),
  running: count,
  runningEverywhere: count.description('Running jobs of all machines.'),
  queuePausedAt: time.allow(null).description('Null if the queue is not paused.'),
  diskFull: yes,
  bookProblems: count.allow(null).description('Problems of the last audit of the books; null before one.'),
  renderer: object<Renderer>({ manim: text, python: text })
    .allow(null)
    .description('Versions; null until a worker is warm.'),
  sandbox: object<SandboxStatus>({
    level,
    layers: list(
      oneOf<SandboxStatus['layers'][number]>({
        ...{ bubblewrap: true, namespaces: true, landlock: true, seccomp: true },
      }),
    ),
    limits,
    problems: object<SandboxProblems>({
      bubblewrap: text.optional(),
      namespaces: text.optional(),
      landlock: text.optional(),
      seccomp: text.optional(),
      cgroup: text.optional(),
    }).description('Why the other layers, or control groups, are not used.'),
  })
    .allow(null)
    .description('The isolation of scenes; null until a worker is warm.'),
});

type Failure = NonNullable<BackupsInfo['lastFailure']>;

const backups = object<BackupsInfo>({
  folder: text,
  lastSuccessAtMs: number
    .allow(null)
    .description('When the newest complete backup was begun, in epoch milliseconds; null without one.'),
  lastFailure: object<Failure>({ reason: text, remedy: text, atMs: number, message: text }).allow(null),
  hasFailed: yes.description('Whether none has succeeded since that failure.'),
  warnings: list(text),
}).allow(null);

const machineSettings = record(text);

export const machine: Joi.ObjectSchema = object<MachineInfo>({
  machineId: text,
  name: text,
  roles: list(oneOf<MachineInfo['roles'][number]>({ api: true, worker: true, sender: true, upkeep: true })),
  qualities: list(quality).allow(null).description('The qualities that it renders; null: all.'),
  version: text,
  state: oneOf<MachineInfo['state']>({
    ...{ starting: true, ready: true, 'not ready': true, draining: true, dead: true },
  }),
  workers: count,
  busyWorkers: count,
  warmWorkers: count,
  startedAt: time,
  seenAt: time.description('When it last reported.'),
  clockAheadMs: number.allow(null).description('How far its clock is ahead of that of the database.'),
  settings: machineSettings.description('What decides about money and links, by the names of the options.'),
  limits: machineSettings.description('The limits that it applies, by the names of the options.'),
  differences: list(object<MachineDifference>({ name: text, value: text, others: text })).description(
    'Where it differs from most machines that are alive.',
  ),
});

export const service: Joi.ObjectSchema = object<ServiceInfo>({
  version: text,
  health: object<Readiness>(ofReadiness).description('As reported by `/health/ready`.'),
  status,
  machines: list(machine).allow(null).description('All processes; null without a database.'),
  disk: object<DiskInfo>({
    databaseBytes: count,
    documentBytes: count.description('Accounts, keys and settings.'),
    artifactBytes: count.allow(null).description('Null until they have been added up.'),
    freeBytes: count,
    totalBytes: count,
    retention: object<RetentionInfo>({ days: number.allow(null), gibibytes: number.allow(null) }).description(
      'How long artifacts are kept; null: without a limit.',
    ),
  }),
  backups: backups.description('Null if no backups are scheduled.'),
  faults: list(
    object<ServiceInfo['faults'][number]>({
      at: time.description('Of the last time.'),
      level: oneOf<ServiceInfo['faults'][number]['level']>({ warn: true, error: true, fatal: true }),
      message: text,
      cause: text.allow(null),
      times: count.description('How often it came.'),
    }),
  ).description('The latest warnings and errors of the running server, newest first.'),
});

export const queue: Joi.ObjectSchema = object<QueueInfo>({
  pausedAt: time.allow(null).description('Since when no renders start; null if it is not paused.'),
  queued: count,
  running: count,
  workers: count.description('How many scenes can be rendered at the same time; 0 without a server.'),
  ready: yes.description('Whether renders can start now.'),
  renderTimeoutSeconds: number.description('Maximum duration of a render.'),
  warnings: list(text).description('Why jobs are not rendered.'),
});

export const examination: Joi.ObjectSchema = object<{ ok: boolean; findings: Finding[] }>({
  ok: yes.description('Whether no check failed.'),
  findings: list(
    object<Finding>({
      check: text.description('Name of the check.'),
      status: oneOf<Finding['status']>({ ok: true, warning: true, failed: true }),
      message: text,
      remedy: text.optional().description('What to do; absent if nothing needs to be done.'),
    }),
  ),
});
