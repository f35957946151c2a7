import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Test } from 'tap';
import { MANUAL_PATHS } from '../../appliance/http/manual-pages.ts';
import { findArchive, trailerOf } from '../../lib/render/setup/archive.ts';
import { TestAuthority } from '../fixtures/certificates.ts';
import { inspectVideo } from '../fixtures/video.ts';
import { type WebhookReceiver, webhookReceiver } from '../fixtures/webhook-receiver.ts';
import { endInMachine, killInMachine, Machine, type MachineKind } from './machine.ts';

const BUILD = join(import.meta.dirname, '../../build');
const DATA = '/srv/scenepress/data';
const BACKUP = '/srv/scenepress/backup';
/** The program on a machine. */
export const PROGRAM = '/opt/scenepress/current/scenepress';
const START_TIMEOUT_MS = 180_000;

/** Text in several scripts, TeX with Ghostscript, and 3D. */
const CODE = String.raw`
from manim import *


class Everything(ThreeDScene):
    def construct(self):
        surface = Surface(lambda u, v: np.array([u, v, u * v]), resolution=4)
        template = TexTemplate()
        template.add_to_preamble(r"\usepackage{physics}\usepackage{graphicx}")
        tex = Tex(r"$\dv{x}\sqrt{x}$ \rotatebox{30}{turned}", tex_template=template)
        text = Text("Ωж 中文 العربية नमस्ते 😀")
        if len(text) < 14 or len(tex[0]) < 12:
            raise RuntimeError(f"glyphs are missing: {len(text)}, {len(tex[0])}")
        self.set_camera_orientation(phi=PI / 4, theta=PI / 4)
        self.add(surface, text.shift(UP), tex.shift(DOWN))
        self.play(Create(Circle()))
`;

/** The running program on a machine. */
interface Serving {
  process: ChildProcess;
  url: string;
  key: string;
  startMs: number;
}

/** A machine with the program, and a webhook receiver that it trusts. */
export interface Site {
  machine: Machine;
  /** The folder that the machine has as `/opt/scenepress`. */
  programs: string;
  /** For files of the test. */
  folder: string;
  receiver: WebhookReceiver;
}

/** Starts a machine with the program. */
export async function makeSite(t: Test, kind: MachineKind): Promise<Site> {
  const folder = mkdtempSync(join(BUILD, 'site-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const authority = new TestAuthority(folder);
  const receiver = await webhookReceiver(t, authority.issue(['127.0.0.1']));
  const programs = join(folder, 'programs');
  mkdirSync(join(programs, 'first'), { recursive: true });
  linkSync(join(BUILD, 'scenepress'), join(programs, 'first/scenepress'));
  copyFileSync(authority.caFile, join(programs, 'ca.pem'));
  symlinkSync('first', join(programs, 'current'));
  for (const path of [folder, programs, join(programs, 'ca.pem')]) chmodSync(path, 0o755);
  const machine = new Machine(kind, programs);
  t.teardown(() => machine.stop());
  await machine.start();
  return { machine, programs, folder, receiver };
}

/** Starts the program for the first time and renders a scene. */
export async function renderOnce(t: Test, kind: MachineKind): Promise<void> {
  const { machine, folder, receiver } = await makeSite(t, kind);
  const { serving } = await startAndRender(t, { kind, machine, folder, receiver });
  await checkNotices(t, machine);
  await checkTexts(t, { machine, serving });
  await checkBackup(t, machine);
  await stop(t, serving);
}

/** Runs the operations of an administrator, from the first start to a restored backup. */
export async function runLifecycle(t: Test, kind: MachineKind): Promise<void> {
  const { machine, programs, folder, receiver } = await makeSite(t, kind);
  await checkDoctor(t, machine, kind);
  const { serving: first, jobId } = await startAndRender(t, { kind, machine, folder, receiver });
  await stop(t, first);

  const again = { ...(await serve(machine, DATA)), key: first.key };
  t.comment(`ready again after ${again.startMs} ms`);
  t.equal((await job(again, jobId)).status, 'completed', 'the job still exists after a restart');
  await stop(t, again);

  const before = await unpacked(machine);
  copyWithNewVersion(join(programs, 'first/scenepress'), join(programs, 'second/scenepress'));
  rmSync(join(programs, 'current'));
  symlinkSync('second', join(programs, 'current'));
  const upgraded = { ...(await serve(machine, DATA)), key: first.key };
  await checkVideo(t, upgraded, await post(upgraded, null), folder);
  const after = await unpacked(machine);
  t.equal(after.length, 1, 'the old renderer is removed');
  t.not(after[0], before[0], 'the new program has unpacked its own renderer');

  await checkBackup(t, machine);
  await stop(t, upgraded);
  const restored = '/srv/scenepress/restored';
  const key = ['--master-key-file', `${DATA}/master.key`];
  const restore = await machine.run([...[PROGRAM, 'restore', BACKUP, '--data-dir', restored], ...key]);
  t.equal(restore.status, 0, `the backup is restored ${restore.stderr}`);
  const last = {
    ...(await serve(machine, restored, ['--renderer-dir', `${DATA}/renderer`])),
    key: first.key,
  };
  t.equal((await job(last, jobId)).status, 'completed', 'the restored service has the job');
  await checkVideo(t, last, jobId, folder);
  await stop(t, last);
}

async function checkBackup(t: Test, machine: Machine): Promise<void> {
  const { status, stderr } = await machine.run([PROGRAM, 'backup', BACKUP, '--data-dir', DATA]);
  t.equal(status, 0, `a backup of the running service succeeds ${stderr}`);
}

async function startAndRender(
  t: Test,
  { kind, machine, folder, receiver }: Omit<Site, 'programs'> & { kind: MachineKind },
): Promise<{ serving: Serving; jobId: string }> {
  const serving = await serve(machine, DATA);
  t.comment(`ready for the first time after ${serving.startMs} ms`);
  t.match(serving.key, /^svc_live_/, 'the first start prints a key');
  const ready = (await (await fetch(`${serving.url}/health/ready`)).json()) as {
    sandbox?: { level: string };
  };
  t.match(
    ready.sandbox,
    kind.userNamespaces ? /^(full|watched)$/ : 'reduced',
    'the sandbox has the best possible level',
  );
  const jobId = await post(serving, `https://127.0.0.1:${receiver.port}/done`);
  const [delivery] = await receiver.got(1);
  const outcome = JSON.parse(`${delivery?.body}`) as object;
  t.match(outcome, { jobId, status: 'completed' }, 'a webhook reports the completed job');
  await checkVideo(t, serving, jobId, folder);
  return { serving, jobId };
}

async function serve(machine: Machine, dataDir: string, more: string[] = []): Promise<Serving> {
  const start = performance.now();
  const options = ['--data-dir', dataDir, '--port', '0', '--webhooks-allow-networks', '127.0.0.0/8'];
  const child = machine.spawn([
    PROGRAM,
    'serve',
    ...options,
    '--webhooks-ca',
    '/opt/scenepress/ca.pem',
    ...more,
  ]);
  const timer = setTimeout(() => killInMachine(child), START_TIMEOUT_MS);
  let printed = '';
  (child.stdout as Readable).setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const lines: string[] = [];
  try {
    for await (const line of createInterface({ input: child.stderr as Readable })) {
      lines.push(line);
      const said = line.startsWith('{') ? (JSON.parse(line) as { msg: string; url: string }) : undefined;
      if (said?.msg !== 'ready') continue;
      (child.stderr as Readable).resume();
      const key = /svc_live_\w+/.exec(printed)?.[0] ?? '';
      return { process: child, url: said.url, key, startMs: Math.round(performance.now() - start) };
    }
  } finally {
    clearTimeout(timer);
  }
  throw new Error(`The program ended without being ready:\n${lines.join('\n')}\n${printed}`);
}

async function stop(t: Test, serving: Serving): Promise<void> {
  const ended = once(serving.process, 'close') as Promise<[number | null]>;
  endInMachine(serving.process);
  const [status] = await ended;
  t.equal(status, 0, 'SIGTERM stops it gracefully');
}

async function post({ url, key }: Serving, webhookUrl: string | null): Promise<string> {
  const response = await fetch(`${url}/api/v2/render`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ className: 'Everything', code: CODE, quality: 'low', webhookUrl }),
  });
  const answer = (await response.json()) as { jobId: string };
  if (response.status !== 202) throw new Error(JSON.stringify(answer));
  return answer.jobId;
}

interface JobAnswer {
  status: string;
  error: string | null;
  result: { video: string } | null;
}

async function job({ url, key }: Serving, jobId: string): Promise<JobAnswer> {
  const response = await fetch(`${url}/api/v2/render/${jobId}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return (await response.json()) as JobAnswer;
}

async function checkVideo(t: Test, serving: Serving, jobId: string, folder: string): Promise<void> {
  let state = await job(serving, jobId);
  while (state.status === 'queued' || state.status === 'running') {
    await new Promise((resolve) => setTimeout(resolve, 200));
    state = await job(serving, jobId);
  }
  t.match(state, { status: 'completed', error: null }, 'text, TeX and 3D are rendered');
  const video = await fetch(`${serving.url}/artifacts/${jobId}/video.mp4`);
  const path = join(folder, 'video.mp4');
  writeFileSync(path, Buffer.from(await video.arrayBuffer()));
  const { codec, frames } = await inspectVideo(path);
  t.equal(codec, 'h264', 'the video decodes');
  t.ok(frames >= 15, 'the video has all frames');
}

/** Before the first start, and with a noexec /tmp, the doctor renders its scenes and removes the renderer that it unpacked. */
async function checkDoctor(t: Test, machine: Machine, { user }: MachineKind): Promise<void> {
  const { status, stdout } = await machine.run([PROGRAM, 'doctor', '--data-dir', DATA, '--port', '0']);
  t.equal(status, 0, `the doctor finds nothing wrong\n${stdout}`);
  t.match(stdout, /unpacked temporarily in \S+/);
  t.notMatch(stdout, /setup|npx/);
  const cache = user === 'root' ? '/var/cache/scenepress' : '/srv/scenepress/.cache/scenepress';
  t.equal((await machine.run(['ls', cache])).stdout, 'unpacking.lock\n');
}

/** The program contains the licences of all its parts. */
async function checkNotices(t: Test, machine: Machine): Promise<void> {
  const [root = ''] = await unpacked(machine);
  const read = async (name: string) =>
    (await machine.run(['cat', `${DATA}/renderer/${root}/usr/share/scenepress/${name}`])).stdout;
  const { parts } = JSON.parse(await read('manifest.json')) as { parts: { kind: string; name: string }[] };
  const notices = await read('THIRD-PARTY.txt');
  for (const [kind, name, notice] of [
    ['debian', 'libgs10', /GNU AFFERO GENERAL PUBLIC LICENSE/i],
    ['library', 'libx264', /as in libx264-164 \(Debian\)\n\nFormat/],
    ['python', 'manim', /Manim Community/],
    ['npm', '@hapi/hapi', /Sideway Inc/],
    ['program', 'node', /Copyright Node\.js contributors/],
  ] as const) {
    t.ok(
      parts.some((part) => part.kind === kind && part.name.replace(/\.so.*/, '') === name),
      `${name} is listed`,
    );
    t.match(notices, notice, `the notices of ${name} are included`);
  }
}

/** The program contains the manual and the skill for agents. */
async function checkTexts(
  t: Test,
  { machine, serving }: { machine: Machine; serving: Serving },
): Promise<void> {
  for (const path of MANUAL_PATHS) {
    t.equal((await fetch(`${serving.url}/manual/${path}`)).status, 200, path);
  }
  const { status } = await machine.run([PROGRAM, 'skill', 'install', '--dir', '/tmp/skills']);
  const { stdout } = await machine.run(['cat', '/tmp/skills/scenepress/SKILL.md']);
  t.equal(status, 0);
  t.match(stdout, /^---\nname: scenepress\n/);
}

async function unpacked(machine: Machine): Promise<string[]> {
  const { stdout } = await machine.run(['ls', `${DATA}/renderer`]);
  return stdout.split('\n').filter((name) => /^root-\w+$/.test(name));
}

/** Copies the program with another renderer name, as another version has. */
function copyWithNewVersion(program: string, copy: string): void {
  mkdirSync(join(copy, '..'), { recursive: true });
  copyFileSync(program, copy);
  const { file: _, ...archive } = findArchive(copy) as NonNullable<ReturnType<typeof findArchive>>;
  truncateSync(copy, Math.max(...archive.segments.map(({ offset, sizeBytes }) => offset + sizeBytes)));
  appendFileSync(copy, trailerOf({ ...archive, name: 'another0version0' }));
}
