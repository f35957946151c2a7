import { join } from 'node:path';
import t from 'tap';
import type { FailedBy } from '../../../lib/index.ts';
import { isDeep } from '../../fixtures/depth.ts';
import { BODY_LINE, render, scene, startService } from '../../fixtures/renders.ts';

/** Long enough, on a busy machine, for what ends by another limit. */
const TIMEOUT_MS = 10_000;
const FORGED_LINES = [
  "for report in ({'type': 'ended', 'job': '1', 'exitCode': 0}, {'type': 'done', 'frames': 1, 'seconds': 1}):",
  "    line = json.dumps(report) + '\\n'",
];

/** Scenes and their errors. A string must be the whole error. */
const FAILING: {
  what: string;
  code?: string;
  className?: string;
  fps?: number;
  error: string | RegExp;
  failedBy?: FailedBy;
}[] = [
  {
    what: 'source that is not Python',
    code: scene('self.play('),
    error: `SyntaxError: '(' was never closed\nline ${BODY_LINE}: self.play(`,
  },
  {
    what: 'a missing class',
    className: 'Other',
    error: "The code has no class 'Other'. Scenes in the code: Main.",
  },
  {
    what: 'a class that is not a scene',
    code: `${scene('pass')}class Other:\n    pass\n`,
    className: 'Other',
    error:
      "The class 'Other' is not a Scene: it must inherit from manim.Scene or a subclass of it. " +
      'Scenes in the code: Main.',
  },
  {
    what: 'a name that is not a class',
    code: `${scene('pass')}Other = 3\n`,
    className: 'Other',
    error: "'Other' is not a class. Scenes in the code: Main.",
  },
  {
    what: 'a keyword as class name',
    className: 'class',
    error: "'class' is a Python keyword: no class can have this name. Scenes in the code: Main.",
  },
  {
    what: 'an exception of the scene',
    code: scene('self.add(Circle())', "raise ValueError('the radius must be positive')"),
    error:
      'ValueError: the radius must be positive\n' +
      `line ${BODY_LINE + 1}: raise ValueError('the radius must be positive')`,
  },
  {
    what: 'an exception in Manim',
    code: scene('self.play(Circle())'),
    error: `TypeError: Unexpected argument Circle passed to Scene.play().\nline ${BODY_LINE}: self.play(Circle())`,
  },
  {
    what: 'an exception whose message has several lines and control characters',
    code: scene("raise ValueError('one\\n\\x1b[31mtwo\\u2028\\0three')"),
    error: `ValueError: one\n [31mtwo  three\nline ${BODY_LINE}: raise ValueError('one\\n\\x1b[31mtwo\\u2028\\0three')`,
  },
  {
    what: 'an exception whose message contains paths of the machine',
    code: scene('raise ValueError(sys.executable + sys.prefix + __file__ + os.__file__ + repr(sys.path))'),
    error: /^ValueError: [^\n]*\nline 6: raise ValueError\(sys\.executable/,
  },
  {
    what: 'a missing library',
    code: scene('import nothing_like_this'),
    error:
      /^ModuleNotFoundError: No module named 'nothing_like_this'\. .*\nline 6: import nothing_like_this$/,
  },
  {
    what: 'an error in TeX',
    failedBy: 'tex',
    code: scene("self.add(MathTex(r'\\frac{1}{\\nosuch}'))"),
    error:
      'TeX: Undefined control sequence \\nosuch\nin: \\frac{1}{\\nosuch}\n' +
      `line ${BODY_LINE}: self.add(MathTex(r'\\frac{1}{\\nosuch}'))`,
  },
  {
    what: 'an endless loop',
    failedBy: 'limit:time',
    code: scene('while True:', '    pass'),
    error:
      /^The render took longer than the limit of 10 seconds\. For the last \d+ s, the scene's code ran before its first play\.\nline [67]: (?:while True:|pass)$/,
  },
  {
    what: 'an animation without end',
    failedBy: 'limit:frames',
    code: scene('self.wait(1e9)'),
    error:
      'An animation of 1e+09 s at 15 frames per second would make the video longer than the limit of ' +
      `36000 frames.\nline ${BODY_LINE}: self.wait(1e9)`,
  },
  {
    what: 'infinite recursion',
    code: scene('def again():', '    again()', 'again()'),
    error: /^RecursionError: .*\nline [67]: /,
  },
  {
    what: '10 GB of memory',
    failedBy: 'limit:memory',
    code: scene('much = bytearray(10 * 1000 ** 3)'),
    error:
      'MemoryError: the scene needs more memory than the limit.\n' +
      `line ${BODY_LINE}: much = bytearray(10 * 1000 ** 3)`,
  },
  {
    what: 'sys.exit()',
    code: scene('sys.exit()'),
    error: `The scene ended itself with sys.exit().\nline ${BODY_LINE}: sys.exit()`,
  },
  {
    what: 'os._exit(1)',
    code: scene('os._exit(1)'),
    error:
      "The scene's process ended with exit code 1 before the render was finished. " +
      'Scene code must not exit Python itself (os._exit), nor close files that it did not open.',
  },
  {
    what: 'os._exit(0)',
    code: scene('os._exit(0)'),
    error: /^The scene's process ended with exit code 0 before the render was finished\./,
  },
  {
    what: 'a signal to itself',
    code: scene('os.kill(os.getpid(), signal.SIGKILL)', 'time.sleep(1)'),
    error: "The scene's process was ended by SIGKILL before the render was finished.",
  },
  {
    what: 'a signal to its parent',
    code: scene('os.kill(os.getppid(), 9)', 'time.sleep(1)'),
    error: /^The scene's process was ended by SIGKILL before the render was finished\.|^PermissionError: /,
  },
  {
    what: 'a signal to every process',
    code: scene('os.kill(-1, 9)', 'raise ValueError("nobody else was there")'),
    error: /^ProcessLookupError: |^ValueError: nobody else|^The scene's process was ended by SIGKILL/,
  },
  {
    what: 'a crash of the interpreter',
    code: scene('import ctypes', 'ctypes.string_at(0)'),
    error: "The scene's process was ended by SIGSEGV before the render was finished.",
  },
  {
    what: 'closed descriptors',
    code: scene('os.closerange(0, 256)', 'self.wait(1)'),
    error: /^The scene's process ended with exit code \d+ .* nor close files that it did not open\.$/,
  },
  {
    what: 'megabytes of forged reports on standard output, and an exception after them',
    code: scene(
      ...FORGED_LINES,
      '    for _ in range(50_000):',
      '        sys.stdout.write(line)',
      '        sys.__stderr__.write(line)',
      "raise ValueError('after the lines')",
    ),
    error: `ValueError: after the lines\nline ${BODY_LINE + 5}: raise ValueError('after the lines')`,
  },
  {
    what: 'forged reports on every descriptor',
    code: scene(
      ...FORGED_LINES,
      '    for descriptor in range(256):',
      '        try:',
      '            os.write(descriptor, line.encode())',
      '        except OSError:',
      '            pass',
      'time.sleep(3600)',
    ),
    // One of them is the connection for the frames.
    error: /^The scene's process sent something else than the renderer sends\.$/,
  },
  {
    what: 'more frames per second than a video may have frames',
    failedBy: 'limit:frames',
    fps: 1_000_000,
    error: 'One second at 1000000 frames per second is more than the 36000 frames that a video may have.',
  },
  {
    what: 'an enormous number of frames per second',
    failedBy: 'limit:frames',
    fps: 1e308,
    error: /^One second at \d+ frames per second is more than the 36000 frames that a video may have\.$/,
  },
  {
    what: 'a NUL character',
    code: scene('text = "\0"'),
    error: `line ${BODY_LINE}: the code contains a NUL character.`,
  },
  {
    what: 'endless forks',
    code: scene('while True:', '    os.fork()'),
    error: /^BlockingIOError: .*\nline 7: os\.fork\(\)$/,
  },
  {
    what: 'an endless file',
    failedBy: 'limit:fileSize',
    code: scene("with open('large', 'wb') as file:", '    while True:', '        file.write(bytes(2 ** 20))'),
    error: `A file grew beyond the limit for files.\nline ${BODY_LINE + 2}: file.write(bytes(2 ** 20))`,
  },
];

const checkout = join(import.meta.dirname, '../../..');
const PATHS = ['Traceback', 'site-packages', 'scene_renderer', '.venv', '/usr', '/tmp', checkout];

const service = await startService(t, {
  workers: 1,
  limits: { timeoutMs: TIMEOUT_MS, fileSizeBytes: 64 * 1024 * 1024 },
});

for (const { what, code = scene('pass'), className = 'Main', fps, error, failedBy = 'scene' } of FAILING) {
  t.test(`a scene with ${what} fails with an error for its author`, async (t) => {
    const job = await render(service, { code, className, ...(fps && { fps }) });
    // A killed scene is tried again: the system may have killed it.
    const attempts = /SIGKILL/.test(job.error ?? '') ? 2 : 1;
    t.match(job, { status: 'failed', failedBy, attempts, creditsCost: 0, artifacts: [] });
    if (typeof error === 'string') t.equal(job.error, error);
    else t.match(job.error, error);
    for (const path of PATHS) t.notOk(job.error?.includes(path), `the error does not contain ${path}`);
    // What only raises an error leaves no process that could harm the next render.
    if (isDeep || !/^\w+Error: /.test(job.error ?? ''))
      t.match(await render(service, { className: 'OneFrame' }), {
        status: 'completed',
        error: null,
        attempts: 1,
      });
  });
}
