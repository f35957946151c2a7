"""The command line: ``python -s -P -B -m scene_renderer {zygote,encoder,prepare-tex} …``."""

import argparse
import os
from functools import partial

from .sandbox import kernel, priority


def main() -> None:
    """Start a process that forks jobs, under another user id if one is given."""
    parser = argparse.ArgumentParser(prog="scene_renderer")
    commands = parser.add_subparsers(required=True, dest="command")
    zygote = commands.add_parser("zygote", help="read render commands from stdin and fork a process for each")
    zygote.add_argument("--portrait", action="store_true", help="use a frame 8 units wide and 14.22 high")
    zygote.add_argument("--reader", action="store_true", help="for jobs that only read sources")
    encoder = commands.add_parser("encoder", help="the same for the encoding of videos, without Manim")
    for command in (zygote, encoder):
        command.add_argument("--uid", type=int, help="user and group id to run as; needs root")
        command.add_argument("--mount-proc", action="store_true", help="mount a new /proc; needs root")
        command.add_argument("--cgroup", action="store_true", help="join by descriptor 3")
        command.add_argument("--read", action="append", default=[], metavar="PATH", help="readable by jobs")
        command.add_argument(
            "--without", action="append", default=[], metavar="LAYER", help="disabled, for tests"
        )
    commands.add_parser("prepare-tex", help="set the sample of TeX for the zygotes that start later")
    arguments = parser.parse_args()
    if arguments.command == "prepare-tex":
        from .tex import sample

        sample.Conversion().prepare()
        return

    if arguments.mount_proc:
        kernel.mount_proc("/proc")
    session = priority.Session()
    priority.die_before_the_service()
    if arguments.uid is not None:
        os.setgroups([])
        os.setresgid(arguments.uid, arguments.uid, arguments.uid)
        os.setresuid(arguments.uid, arguments.uid, arguments.uid)

    # `run` imports the modules that jobs need, as the user that jobs run as.
    from . import zygote as forking
    from .tex import formats

    prepare = forking.prepare_encoding
    if arguments.command == "zygote":
        arguments.read += formats.readable()
        prepare = partial(forking.prepare_renders, portrait=arguments.portrait)
        if arguments.reader:
            prepare = forking.prepare_reading
    forking.run(
        prepare,
        readable=arguments.read,
        without=arguments.without,
        session=session,
        grouped=arguments.cgroup,
    )


if __name__ == "__main__":
    main()
