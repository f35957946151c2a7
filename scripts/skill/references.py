"""Prints the references of the skill as JSON: Markdown by file name, made of the installed Manim."""

import inspect
import json
import sys
from collections.abc import Iterable, Iterator

import manim
from reference_entries import class_entry, function_entry, method_entries, method_entry
from reference_mistakes import mistakes
from reference_narration import NARRATION
from reference_tex import tex_parts
from reference_topics import ANIMATIONS, CAMERAS, METHODS, MOBJECTS, TEX, UNLISTED, Section

HEAD = "<!-- Made by scripts/skill-references.ts. -->\n\nOf Manim {version}. {text}"
CONSTANTS = (
    "ORIGIN UP DOWN LEFT RIGHT IN OUT UL UR DL DR X_AXIS Y_AXIS Z_AXIS PI TAU DEGREES SMALL_BUFF "
    "MED_SMALL_BUFF MED_LARGE_BUFF LARGE_BUFF DEFAULT_FONT_SIZE DEFAULT_STROKE_WIDTH DEFAULT_DOT_RADIUS"
)
INHERITED = (
    "`**kwargs` are passed on to what the class extends: a `Circle` takes `color`, `fill_opacity` and "
    "`stroke_width` of `VMobject`, too."
)


def references() -> dict[str, str]:
    """Return the pages by name."""
    return {
        "mobjects.md": _page(
            "Mobjects", f"What can be shown. {INHERITED}", [*_sections(MOBJECTS), _colours(), _constants()]
        ),
        "animations.md": _page(
            "Animations", "What `self.play` takes.", _sections(ANIMATIONS, has_methods=False)
        ),
        "cameras.md": _page("Scenes and cameras", "What a scene is derived from.", _sections(CAMERAS)),
        "tex.md": _page("Text and formulas", INHERITED, [*_sections(TEX), *tex_parts()]),
        "narration.md": _page(
            "Parameters, narration and slides", "What scenes import of Scenepress.", [NARRATION]
        ),
        "mistakes.md": _page(
            "Common mistakes",
            "Names of earlier versions, of ManimGL and of guesses, with what Manim Community calls the same "
            "thing, and what messages mean. `scenepress check` says the same, with the line.",
            mistakes(),
        ),
    }


def _page(title: str, text: str, parts: Iterable[str]) -> str:
    head = HEAD.format(version=manim.__version__, text=text)
    return "\n\n".join([f"# {title}", head, *parts]) + "\n"


def _sections(sections: Iterable[Section], *, has_methods: bool = True) -> Iterator[str]:
    for title, names, text, with_methods in sections:
        lines = [line for name in names.split() for line in _entries(name, has_methods and with_methods)]
        yield "\n\n".join(part for part in (f"## {title}", text, "\n".join(lines)) if part)


def _entries(name: str, has_methods: bool) -> Iterator[str]:
    described = getattr(manim, name)
    if not inspect.isclass(described):
        yield function_entry(described)
        return
    yield class_entry(described)
    if name in METHODS:
        yield from (method_entry(described, method) for method in METHODS[name].split())
    elif has_methods:
        yield from method_entries(described)


def _colours() -> str:
    names = [name for name, value in vars(manim).items() if isinstance(value, manim.ManimColor)]
    shades = sorted({name[:-2] for name in names if name.endswith("_A")})
    others = [name for name in names if name[-2:] not in ("_A", "_B", "_C", "_D", "_E")]
    return (
        "## Names of colours\n\n"
        f"{_listed(others)}.\n\n"
        f"Shades from light (`_A`) to dark (`_E`), such as `BLUE_D`: {_listed(shades)}. Others: `'#58c4dd'`, "
        "or those of CSS as `SVGNAMES.TOMATO`, and of X11 as `X11.CORAL1`."
    )


def _constants() -> str:
    values = [f"`{name}` = {_value(getattr(manim, name))}" for name in CONSTANTS.split()]
    words = "NORMAL BOLD ITALIC OBLIQUE THIN LIGHT MEDIUM SEMIBOLD HEAVY"
    return f"## Constants\n\n{', '.join(values)}. Weights and slants of text: {_listed(words.split())}."


def _value(value: object) -> str:
    if hasattr(value, "tolist"):
        return f"({', '.join(f'{one:g}' for one in value.tolist())})"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def check_completeness() -> None:
    """Fail if a class of Manim is in no section."""
    listed = {
        name for page in (MOBJECTS, ANIMATIONS, CAMERAS, TEX) for part in page for name in part.names.split()
    }
    classes = {
        name
        for name, value in vars(manim).items()
        if inspect.isclass(value) and value.__module__.startswith("manim") and not name.startswith("_")
    }
    missing = sorted(classes - listed - set(UNLISTED.split()))
    if missing:
        sys.exit(f"Add to scripts/skill/reference_topics.py: {', '.join(missing)}")


if __name__ == "__main__":
    check_completeness()
    json.dump(references(), sys.stdout)
