"""The app: a consumer of ``CharacterPlayer`` that draws with the DOM.

Modules that import ``js`` are views; the others are plain and run under CPython as well.
"""
