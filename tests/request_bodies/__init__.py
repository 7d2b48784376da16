"""What the player asks models for, byte for byte.

Each scene plays a scripted conversation through ``personae.CharacterPlayer`` on the fakes of the
ports, with the agents of the package really running, and the bodies of its requests are what
``recorded/`` holds: a line for each request, the JSON as it leaves the client. A change of the code
that is not meant to change requests leaves these files as they are. Where one is meant to:

    python -m tests.request_bodies.record [scene ...]

writes them again; the difference belongs into the same commit, and its reason into the message.
"""
