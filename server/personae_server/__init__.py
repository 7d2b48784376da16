"""The thin server: static files, the package proxy, the page reader, the model relay, the CLI.

It never runs a character: everything a package brings is played in the visitor's browser.
"""

__version__ = "0.2.0"
