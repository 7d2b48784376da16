"""What surrounds a Python agent inside its worker. Text is all that crosses to the host."""
