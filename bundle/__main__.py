"""``python -m bundle``: builds the static folder in place, for development."""

from bundle.assets import build

build()
