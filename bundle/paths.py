"""Where the build reads and writes."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
WORKER = ROOT / "worker"
MODULES = WORKER / "node_modules"
CACHE = ROOT / "build" / "cache"
STAGE = ROOT / "build" / "stage"
STATIC = ROOT / "server" / "personae_server" / "static"
