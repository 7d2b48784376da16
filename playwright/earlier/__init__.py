"""Databases as earlier versions of the player have left them, and how a test gets one.

``version-0.1.0.json`` is what a browser held after the life that ``life.py`` plays: the records of
IndexedDB at schema 1, one a line, as ``[table, key, value]``. It was made by the player of that
version, and stays as it is: a database cannot be made again once the code has moved on. What made
it, run from the root of a checkout of that version with the player built:

    python playwright/earlier/make.py

A test puts it into the storage of a fresh browser context before the app starts:

    saved = Saved.load("version-0.1.0")
    saved.put_into(context, player_url, base_url=provider.base_url)
    app = AppPage(context.new_page(), player_url).open()

``Saved`` also tells what the records say, so that a test can look for all of it.
"""
