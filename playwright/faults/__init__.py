"""Faults that the browser tests inject, and looks at what is stored afterwards."""
