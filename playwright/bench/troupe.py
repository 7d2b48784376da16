"""Characters with so many agents of each language, which all start when a conversation opens."""

from __future__ import annotations

import io
import json
import zipfile

SOURCES = {
    "javascript": ("js", "/**\n * @agent {id}\n * @preload true\n */\n{code}\n"),
    "lua": ("lua", "--[[\n@agent {id}\n@preload true\n]]\n\n{code}\n"),
    "python": ("py", '"""\n@agent {id}\n@preload true\n"""\n\n\n{code}\n'),
}
CODE = {
    "javascript": 'export function onLoad() {\n  return "here";\n}',
    "lua": 'function on_load()\n  return "here"\nend',
    "python": 'def on_load():\n    return "here"',
}


def troupe(**agents: int) -> bytes:
    """The package; ``agents``: language -> how many."""
    files, ids = {}, []
    for language, count in agents.items():
        extension, frame = SOURCES[language]
        for number in range(count):
            agent = f"troupe.{language}{number}"
            source = frame.replace("{id}", agent).replace("{code}", CODE[language])
            files[f"agents/{agent}.{extension}"] = source
            ids.append(agent)
    files["config.json"] = json.dumps({"name": "Troupe", "agents": ids})
    files["instructions.txt"] = "You are a troupe."
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return packed.getvalue()
