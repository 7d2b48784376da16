"""A fuzz target for the zip reader; ``__main__`` runs it for as long as one likes."""
