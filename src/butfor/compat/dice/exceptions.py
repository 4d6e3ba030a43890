"""The exceptions that DiCE's scripts catch. Each is one of ours, too."""

from __future__ import annotations

from importlib import import_module

from butfor.errors import InputError, UnsupportedProblemError
from butfor.experimental import experimental


def _known_to_scripts() -> type[Exception]:
    """The class that DiCE raises, if the package that holds it is there. Scripts import it from that package."""
    try:
        found: type[Exception] = import_module("raiutils.exceptions").UserConfigValidationException
    except (ImportError, AttributeError):
        return Exception
    return found


@experimental
class UserConfigValidationException(InputError, _known_to_scripts()):  # type: ignore[misc]  # noqa: N818
    """An argument that cannot be used, as `raiutils.exceptions.UserConfigValidationException`."""


class SystemException(UnsupportedProblemError):  # noqa: N818
    """A call that does not suit the model, as `dice_ml.utils.exception.SystemException`."""
