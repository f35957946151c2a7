"""Each layer of the sandbox, when it is the only one."""

import ast
import os
import resource
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from client import RENDERER, Zygote, render_job
from sources import SQUARE, scene

LAYERS = ("namespaces", "landlock", "seccomp")
UNUSED_USER = 54_321
ABOVE = """
import ctypes, os, signal, socket
libc = ctypes.CDLL(None)
def through(name, call, *values):
    try:
        result = call(*values)
    except OSError:
        return []
    return [] if result == -1 else [name]
def change(path):
    before = os.stat(path).st_ctime_ns
    for attempt in (
        lambda: os.chmod(path, 0o640),
        lambda: os.utime(path, (1, 1)),
        lambda: os.truncate(path, 0),
        lambda: os.close(os.open(path, os.O_RDONLY | os.O_TRUNC)),
        lambda: os.fchmod(os.open(path, os.O_RDONLY), 0o640),
        lambda: os.utime(os.open(path, os.O_RDONLY), (1, 1)),
    ):
        through('change', attempt)
    return -1 if os.stat(path).st_ctime_ns == before else 0
"""
READ = "through('read', open, '/etc/passwd')"
WRITE = "through('write', open, '/var/tmp/scenepress-layer', 'x')"
CONNECT = "through('connect', socket.create_connection, ('127.0.0.1', {port}), 1)"
LOCAL = "through('local', lambda: socket.socket(socket.AF_UNIX).connect('{path}'))"
SIGNAL = "through('signal', os.kill, {service}, 0)"
SEE = "through('see', open, '/proc/{service}/status')"
SETTINGS = "through('settings', os.open, '/proc/sys/kernel/core_pattern', os.O_WRONLY)"
TRACE = "through('trace', libc.ptrace, 0, 0, 0, 0)"
NAMESPACE = "through('namespace', libc.unshare, 0x10000000)"
KEYS = "through('keys', libc.syscall, 248, b'user', b'x', b'x', 1, -2)"
MEMORY = "through('memory', os.memfd_create, 'x')"
DEVICE = "through('device', os.open, '/dev/zero', os.O_RDONLY)"
CHANGE = "through('change', change, '{file}')"
EVERYTHING = (
    *(READ, WRITE, CHANGE, CONNECT, LOCAL, SIGNAL, SEE, SETTINGS),
    *(TRACE, NAMESPACE, KEYS, MEMORY, DEVICE),
)


@pytest.fixture(scope="module", params=["none", *LAYERS])
def layered(request: pytest.FixtureRequest) -> Iterator[tuple[str, Zygote]]:
    """A zygote whose jobs have a single layer."""
    zygote = Zygote(*(f"--without={layer}" for layer in LAYERS if layer != request.param))
    if request.param != "none" and request.param not in zygote.ready["layers"]:
        zygote.close()
        pytest.skip(zygote.ready["problems"][request.param])
    yield request.param, zygote
    assert zygote.close() == 0


# Attacks that a layer does not stop by itself.
PASSES = {
    "namespaces": "keys memory namespace trace",
    "landlock": "change keys local memory namespace trace",
    "seccomp": "device read see settings write",
}


def test_each_layer_stops_its_share(layered: tuple[str, Zygote], tmp_path: Path) -> None:
    layer, zygote = layered
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(path := str(tmp_path / "local"))
        local.listen()
        folder = tmp_path / "job"
        folder.mkdir()
        file = tmp_path / "file"
        file.write_text("of somebody else")
        attacks = " + ".join(EVERYTHING).format(
            port=server.getsockname()[1], path=path, service=os.getpid(), file=file
        )
        # At import, because rendering starts threads, and a process with threads cannot change namespaces.
        outcome = zygote.run(folder, render_job(f"{ABOVE}\nraise ValueError(sorted({attacks}))"))
    Path("/var/tmp/scenepress-layer").unlink(missing_ok=True)
    through = set(ast.literal_eval(outcome.error.splitlines()[0].removeprefix("ValueError: ")))
    if layer == "none":  # other attacks depend on the user who runs the tests
        assert through >= {"change", "connect", "local", "memory", "read", "see", "signal", "trace", "write"}
    else:
        assert through <= set(PASSES[layer].split())


def test_scenes_render_with_each_layer_alone(layered: tuple[str, Zygote], tmp_path: Path) -> None:
    assert layered[1].run(tmp_path, render_job(SQUARE)).result["type"] == "done"


def self_attack(folder: Path, *, others: int = 0, paths: Sequence[str] = ()) -> str:
    """The self-attack as sent by the service; `folder` is that of the job."""
    secret = folder.parent / "secret"
    secret.write_text("secret")
    targets = {
        "secrets": [str(secret)],
        "folders": ["/", "/dev", "/etc", "/usr", "/var"],
        "marks": [str(folder.parent / "mark")],
        "service": os.getpid(),
        "processes": 64,
        "others": others,
        "paths": list(paths),
        "hostName": "",
    }
    source = (RENDERER / "scenes" / "self_attack.py").read_text()
    return source.replace("TARGETS: dict\n", f"TARGETS = {targets}\n")


@pytest.mark.parametrize("missing", [(), ("namespaces",)], ids=["full", "reduced"])
def test_the_self_attack_is_blocked(tmp_path: Path, missing: tuple[str, ...]) -> None:
    zygote = Zygote(*(f"--without={layer}" for layer in missing))
    others = 10_000 if "namespaces" in missing else 0
    error = zygote.run(tmp_path, render_job(self_attack(tmp_path, others=others))).error.splitlines()[0]
    unlimited = (
        os.getuid() == 0
    )  # the kernel does not limit root's processes; the service does not run jobs as root
    assert error == ("SandboxLeaks: started more processes than it may" if unlimited else "SandboxHolds")
    assert not (tmp_path.parent / "mark").exists()
    assert zygote.close() == 0


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become a user who has no other processes")
@pytest.mark.parametrize(
    ("others", "limit", "leaks"),
    [
        (10_000, 64, False),
        (10_000, 64 + 40, False),  # other processes that have ended since they were counted
        (0, 64, False),
        (0, 64 + 40, True),
        (10_000, None, True),
    ],
)
def test_a_limit_includes_other_processes_only_if_the_kernel_counts_them(
    tmp_path: Path, others: int, limit: int | None, *, leaks: bool
) -> None:
    outcome = outcome_as_another_user(self_attack(tmp_path, others=others), processes=limit)
    assert ("more processes" in outcome) == leaks


def outcome_as_another_user(source: str, *, processes: int | None) -> str:
    """Run a source as a user without other processes and with a process limit; return its exception."""
    said, says = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if processes is not None:
                resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))
            os.setresuid(*[UNUSED_USER] * 3)
            exec(source, {})
        except Exception as error:
            os.write(says, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(says)
    with open(said) as outcome:
        text = outcome.read()
    os.waitpid(child, 0)
    assert text.startswith("SandboxLeaks: "), "it runs without a sandbox"
    return text


def test_the_self_attack_reports_leaks(tmp_path: Path) -> None:
    zygote = Zygote(*(f"--without={layer}" for layer in LAYERS))
    error = zygote.run(tmp_path, render_job(self_attack(tmp_path))).error
    assert error.startswith("SandboxLeaks: ")
    for leak in (
        "read a file",
        "changed a file",
        "reached the network",
        "made a socket",
        "signalled",
        "traced",
    ):
        assert leak in error
    assert zygote.close() == 0


@pytest.mark.parametrize(
    ("path", "is_seen"),
    [(str(RENDERER), True), ("/scene_renderer", False), (str(RENDERER)[:-1], False)],
    ids=["seen", "end of another", "beginning of another"],
)
def test_the_self_attack_compares_whole_path_components(
    zygote: Zygote, tmp_path: Path, path: str, *, is_seen: bool
) -> None:
    error = zygote.run(tmp_path, render_job(self_attack(tmp_path, paths=[path]))).error
    assert error.startswith("Sandbox")
    assert ("saw a path of the machine" in error) == is_seen


def test_text_tex_and_3d_render_in_a_reduced_sandbox(tmp_path: Path) -> None:
    zygote = Zygote("--without=namespaces")
    source = (RENDERER / "scenes" / "trial.py").read_text()
    assert zygote.run(tmp_path, render_job(source, "Trial")).result["type"] == "done"
    assert zygote.close() == 0


def test_scenes_can_copy_files_and_use_databases_in_every_sandbox(
    layered: tuple[str, Zygote], tmp_path: Path
) -> None:
    body = """
        Path('a').write_text('text')
        shutil.copy('a', 'b')
        shutil.copy2('a', 'c')
        shutil.copytree('.', tempfile.mkdtemp() + '/tree', ignore=shutil.ignore_patterns('tmp'))
        with sqlite3.connect('data.sqlite') as data:
            data.execute('create table t (x)')
        with shelve.open('shelf') as shelf:
            shelf['key'] = Path('c').read_text()
        with shelve.open('shelf') as shelf:
            Image.new('RGB', (8, 8)).save(shelf['key'] + '.png')
        self.add(ImageMobject('text.png'))
    """
    above = "import shelve, shutil, sqlite3, tempfile\nfrom pathlib import Path\nfrom PIL import Image\n"
    assert layered[1].run(tmp_path, render_job(scene(body, above=above))).result["type"] == "done"


def test_scenes_can_use_asyncio_in_every_sandbox(layered: tuple[str, Zygote], tmp_path: Path) -> None:
    body = """
        async def run():
            program = await asyncio.create_subprocess_exec('cat', stdin=PIPE, stdout=PIPE)
            text, _ = await program.communicate(b'text')
            return text, await asyncio.to_thread(int, '3')
        assert asyncio.run(run()) == (b'text', 3)
        one, other = multiprocessing.Pipe()
        one.send('sent')
        assert other.recv() == 'sent'
    """
    above = "import asyncio, multiprocessing\nfrom asyncio.subprocess import PIPE\n"
    assert layered[1].run(tmp_path, render_job(scene(body, above=above))).result["type"] == "done"
