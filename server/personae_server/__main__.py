"""``python -m personae_server`` is the ``personae`` command."""

import sys

from personae_server.cli import main

# Helper processes import this module again under another name.
if __name__ == "__main__":
    sys.exit(main())
