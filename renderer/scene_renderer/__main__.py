"""The command line: ``python -s -P -B -m scene_renderer zygote [--portrait] [--uid N]``."""

import argparse
import os


def main() -> None:
    """Start a zygote, under another user id if one is given."""
    parser = argparse.ArgumentParser(prog="scene_renderer")
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("zygote", help="wait for jobs on stdin and fork one process for each")
    command.add_argument("--portrait", action="store_true", help="a picture 8 units wide and 14.22 high")
    command.add_argument("--uid", type=int, help="the user and group to become; needs root")
    arguments = parser.parse_args()

    if arguments.uid is not None:
        os.setgroups([])
        os.setresgid(arguments.uid, arguments.uid, arguments.uid)
        os.setresuid(arguments.uid, arguments.uid, arguments.uid)

    # Manim is imported by the next line, so it is imported by the user that the jobs run as.
    from .zygote import run

    run(portrait=arguments.portrait)


if __name__ == "__main__":
    main()
