"""A process that compiles: `python -m butfor.compiled.ahead EXAMPLES SEARCH KERNEL ...`.

It runs the example of the search in the module EXAMPLES, so that each kernel is compiled for the types that solvers call it with.
Kernels that are not named run as plain Python meanwhile.
"""

from __future__ import annotations

import gc
import sys
from importlib import import_module


def main(examples: str, search: str, *kernels: str) -> None:
    """Compile these kernels of a search."""
    from butfor.compiled.kernel import compile_only

    gc.disable()  # the process ends soon
    compile_only(frozenset(kernels))
    import_module(examples).SMALL_PROBLEMS[search]()
    left = uncompiled(search, kernels)
    if left:
        sys.exit(f"the example of {search} never calls {', '.join(left)}")


def uncompiled(search: str, kernels: tuple[str, ...]) -> list[str]:
    """Those of these kernels that the process has not compiled for any types."""
    loaded = [module for name, module in list(sys.modules.items()) if name.startswith(search)]
    compiled = {name for module in loaded for name, one in vars(module).items() if getattr(one, "signatures", ())}
    return [name for name in kernels if name not in compiled]


if __name__ == "__main__":
    main(*sys.argv[1:])
