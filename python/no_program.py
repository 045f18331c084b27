#!python
"""Stands in for the program where pip had to install the reader alone (hatch_build.py)."""

import sys

sys.exit(
    "tcbuild: this environment has tcbuild's Python reader without the program, as Go, a C compiler"
    " or its source was missing when it was installed\n"
    "hint: pip install --force-reinstall a wheel of tcbuild, which has the program inside; or"
    " install Go and a C compiler, and then do so with ./python"
)
