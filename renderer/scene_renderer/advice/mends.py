"""Replacements for classes of errors whose cure is the same wherever they occur."""

import dataclasses

from . import animation_mends, keyword_mends, name_mends, number_mends, value_mends
from .advice import Advice
from .mend import Mend, Rule
from .place import Place

_RULES: tuple[Rule, ...] = (
    *keyword_mends.RULES,
    *animation_mends.RULES,
    *name_mends.RULES,
    *value_mends.RULES,
    *number_mends.RULES,
)


def mended(found: Advice, error: BaseException, place: Place | None, code: str) -> Advice:
    """Return advice with a replacement, if a rule has one for the error."""
    if place is None or found.fix is not None:
        return found
    try:
        mends = (rule(error, place, code) for rule in _RULES)
        mend: Mend | None = next((one for one in mends if one is not None and one.fix is not None), None)
    except Exception:  # of an object of the scene: what is known besides stays
        return found
    if mend is None:
        return found
    if mend.hint is None:
        return dataclasses.replace(found, fix=mend.fix)
    return dataclasses.replace(found, fix=mend.fix, hint=mend.hint, candidates=())
