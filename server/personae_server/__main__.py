"""``python -m personae_server`` is the ``personae`` command."""

import sys

from personae_server.cli import main

sys.exit(main())
