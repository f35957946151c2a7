"""Translations of the texts of scenes."""

import gettext
import os
from collections.abc import Callable


def get_gettext() -> Callable[[str], str]:
    """Return a function that translates texts by the files in ``locales/``, or else returns them."""
    domain, language = os.environ.get("DOMAIN", "scene"), os.environ.get("LOCALE", "en")
    return gettext.translation(domain, "locales", languages=[language], fallback=True).gettext
