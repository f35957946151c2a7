"""Finds the advice for an error of a scene."""

import dataclasses

from .advice import Advice
from .arguments import of_type
from .call_edits import getter_called, without_quotes
from .mends import mended
from .names import of_attribute, of_import, of_name
from .phrases import of_font, of_phrase, of_quotes
from .place import Place
from .syntax import of_syntax
from .values import of_file, of_lookup, of_other, of_value


def advise(error: BaseException, place: Place | None, code: str) -> Advice:
    """Return what is known about an error that the source `code` raised at a place in it.

    Runs no code of the scene, but looks at its objects, which may be anything: call it where an error of
    its own is harmless.
    """
    message = str(error)
    found = of_quotes(message, place, code) or of_font(message) or _of_kind(error, place, code)
    found = mended(found, error, place, code)
    if found.fix is None and (fix := without_quotes(message, place, code)) is not None:
        return dataclasses.replace(found, hint=f"Give the number without quotes: `{fix['text']}`.", fix=fix)
    if found.fix is None and (fix := getter_called(message, place, code)) is not None:
        return dataclasses.replace(found, hint="It is a method: call it, with `()`.", fix=fix)
    return dataclasses.replace(found, hint=of_phrase(message)) if found.hint is None else found


def _of_kind(error: BaseException, place: Place | None, code: str) -> Advice:
    if isinstance(error, SyntaxError):
        return of_syntax(error, code)
    if isinstance(error, NameError):
        return of_name(error, place, code)
    if isinstance(error, ImportError):
        return of_import(error)
    if isinstance(error, AttributeError):
        return of_attribute(error, place, code)
    if isinstance(error, TypeError):
        return of_type(error, place, code)
    if isinstance(error, LookupError):
        return of_lookup(error, place)
    if isinstance(error, OSError):
        return of_file(error, place)
    if isinstance(error, ValueError):
        return of_value(error, place)
    return of_other(error)
