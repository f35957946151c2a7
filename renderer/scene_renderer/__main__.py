"""The command line: ``python -s -P -B -m scene_renderer zygote [--portrait] [--uid N] …``."""

import argparse
import os

from . import kernel, priority


def main() -> None:
    """Start a zygote, under another user id if one is given."""
    parser = argparse.ArgumentParser(prog="scene_renderer")
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("zygote", help="wait for jobs on stdin and fork one process for each")
    command.add_argument("--portrait", action="store_true", help="a picture 8 units wide and 14.22 high")
    command.add_argument("--uid", type=int, help="the user and group to become; needs root")
    command.add_argument("--mount-proc", action="store_true", help="in a mount namespace of its own, as root")
    command.add_argument("--cgroup", action="store_true", help="descriptor 3 leads jobs into their group")
    command.add_argument("--read", action="append", default=[], metavar="PATH", help="what jobs may read")
    command.add_argument("--without", action="append", default=[], metavar="LAYER", help="for tests")
    arguments = parser.parse_args()

    if arguments.mount_proc:
        kernel.mount_proc("/proc")
    priority.begin_session()  # by the user who has started it: files about a process of another are root's
    priority.die_before_the_service()
    if arguments.uid is not None:
        os.setgroups([])
        os.setresgid(arguments.uid, arguments.uid, arguments.uid)
        os.setresuid(arguments.uid, arguments.uid, arguments.uid)

    # Manim is imported by the next line, so it is imported by the user that the jobs run as.
    from .zygote import run

    run(
        portrait=arguments.portrait,
        readable=arguments.read,
        without=arguments.without,
        grouped=arguments.cgroup,
    )


if __name__ == "__main__":
    main()
