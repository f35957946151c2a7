/** The scenes of the siege. The class to render is `Main`. */

const HEAD = 'from manim import *\n';

const scene = (...lines: string[]) =>
  `${HEAD}class Main(Scene):\n    def construct(self):\n${lines.map((line) => `        ${line}\n`).join('')}`;

/** A short lesson with text, used by the honest account. */
export const HONEST: string = scene(
  'title = Text("Area of a circle", font_size=40).to_edge(UP)',
  'circle = Circle(radius=1.5, fill_opacity=0.5)',
  'self.play(Write(title), Create(circle))',
  'self.play(circle.animate.scale(1.2).set_color(YELLOW))',
  'self.play(FadeOut(title), FadeOut(circle))',
);

/** Completes quickly, to trigger its webhook. */
export const QUICK: string = scene('self.add(Dot())');

/** Each process maps the shared zero page at many addresses: no own memory, but 8 KiB of page tables each. */
export const PAGE_TABLES: string = `${HEAD}import ctypes, os
class Main(Scene):
    def construct(self):
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
        for _ in range(8):
            os.fork()
            for gib in range(64, 65_000):
                place = libc.mmap(gib << 30, 4096, 1, 0x100022, -1, 0)
                if place == gib << 30:
                    ctypes.string_at(place, 1)
        while True:
            pass
`;

/** Keeps removed files alive by mapping a page of each. */
export const HIDDEN_FILES: string = `${HEAD}import mmap, os
class Main(Scene):
    def construct(self):
        held = []
        while True:
            with open("hoard", "w+b") as file:
                file.write(bytes(64 << 20))
                file.flush()
                held.append(mmap.mmap(file.fileno(), 4096))
            os.remove("hoard")
`;

export const MANY_FILES: string = scene(
  'import os',
  'for number in range(10**9):',
  '    os.makedirs(f"d{number % 97}/{number}", exist_ok=True)',
);

export const FORK_BOMB: string = scene(
  'import os',
  'while True:',
  '    try:',
  '        os.fork()',
  '    except OSError:',
  '        pass',
);

export const MEMORY_BOMB: string = scene(
  'hoard = []',
  'while True:',
  '    hoard.append(bytearray(b"x" * (16 << 20)))',
);

export const CRASH: string = scene('import os, signal', 'os.kill(os.getpid(), signal.SIGSEGV)');

export const ENDLESS: string = scene('while True:', '    pass');

/** Never defines its scenes. */
export const ENDLESS_SOURCE: string = `${HEAD}while True:
    pass
class Main(Scene):
    pass
`;

/** Takes no processor time. */
export const SLEEPING: string = scene('import time', 'time.sleep(10**6)');

export const ENDLESS_THREADS: string = scene(
  'import threading',
  'def burn():',
  '    while True:',
  '        pass',
  'for _ in range(40):',
  '    threading.Thread(target=burn).start()',
  'burn()',
);

export const FAILING: string = scene('raise ValueError("no lesson today")');
