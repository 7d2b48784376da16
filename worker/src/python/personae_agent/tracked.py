"""The dicts and lists of the agent's store: real ones that note when they are changed.

Invariants: every container within a store is one of these, so what has no note is as it was.
Reading is the built-in's own. What the agent puts in stays its own until ``adopt`` puts copies in
its place, as if the store had come anew.

C code that changes a list past its methods would go unnoticed; in the library that is heapq, which
gets a version in Python for these lists.
"""

from __future__ import annotations

import heapq
import importlib.util
import json
import sys
from collections.abc import Callable
from typing import Any

from .values import to_json

_changed: dict[int, StoreDict | StoreList] = {}


def _noting(builtin: Callable[..., Any]) -> Any:
    def method(self: Any, *values: Any, **named: Any) -> Any:
        _changed[id(self)] = self
        return builtin(self, *values, **named)

    method.__name__ = builtin.__name__
    return method


class StoreDict(dict[Any, Any]):
    __slots__ = ()

    __init__ = _noting(dict.__init__)
    __setitem__ = _noting(dict.__setitem__)
    __delitem__ = _noting(dict.__delitem__)
    __ior__ = _noting(dict.__ior__)
    clear = _noting(dict.clear)
    pop = _noting(dict.pop)
    popitem = _noting(dict.popitem)
    update = _noting(dict.update)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Copies are plain dicts."""
        return dict, (dict(self),)


class StoreList(list[Any]):
    __slots__ = ()

    __init__ = _noting(list.__init__)
    __setitem__ = _noting(list.__setitem__)
    __delitem__ = _noting(list.__delitem__)
    __iadd__ = _noting(list.__iadd__)
    __imul__ = _noting(list.__imul__)
    append = _noting(list.append)
    clear = _noting(list.clear)
    extend = _noting(list.extend)
    insert = _noting(list.insert)
    pop = _noting(list.pop)
    remove = _noting(list.remove)
    reverse = _noting(list.reverse)
    sort = _noting(list.sort)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Copies are plain lists."""
        return list, (list(self),)


def parse(text: str) -> Any:
    """The value of a JSON text, in tracked containers that count as unchanged."""
    return _tracked(json.loads(text, object_hook=_dict))


def is_changed() -> bool:
    return bool(_changed)


def forget() -> None:
    _changed.clear()


def adopt(store: dict[Any, Any]) -> None:
    """Everything changed so far, and the store, become what a new store would hold."""
    for container in (store, *_changed.values()):
        put: Callable[..., None]
        if isinstance(container, dict):
            keys, put = list(container), dict.__setitem__
        else:
            keys, put = list(range(len(container))), list.__setitem__
        for key in keys:
            value = container[key]
            if isinstance(value, (dict, list, tuple)) and type(value) not in _TRACKED:
                text = to_json(value, "store")
                assert text is not None
                put(container, key, parse(text))
    forget()


_TRACKED = (StoreDict, StoreList)


def _dict(found: dict[str, Any]) -> StoreDict:
    own = StoreDict.__new__(StoreDict)
    dict.update(own, found)
    for key, value in found.items():
        if type(value) is list:
            dict.__setitem__(own, key, _tracked(value))
    return own


def _tracked(value: Any) -> Any:
    """A list, and the lists in it, as tracked ones."""
    if type(value) is not list:
        return value
    own = _list(value)
    waiting = [own]
    while waiting:
        outer = waiting.pop()
        for index, item in enumerate(outer):
            if type(item) is list:
                inner = _list(item)
                list.__setitem__(outer, index, inner)
                waiting.append(inner)
    return own


def _list(values: list[Any]) -> StoreList:
    own = StoreList.__new__(StoreList)
    list.extend(own, values)
    return own


def _watch_heaps() -> None:
    """Called when this module is imported, before there is an agent."""
    spec = importlib.util.find_spec("heapq")
    assert spec is not None and spec.loader is not None
    in_python = importlib.util.module_from_spec(spec)
    in_c = sys.modules.pop("_heapq")
    sys.modules["_heapq"] = None  # type: ignore[assignment]
    spec.loader.exec_module(in_python)
    sys.modules["_heapq"] = in_c
    for name in vars(in_c):
        if name.startswith("heap"):
            setattr(heapq, name, _either(getattr(in_c, name), getattr(in_python, name)))


def _either(fast: Callable[..., Any], noticed: Callable[..., Any]) -> Callable[..., Any]:
    def heap_function(heap: Any, *values: Any) -> Any:
        return (noticed if type(heap) is StoreList else fast)(heap, *values)

    heap_function.__name__ = fast.__name__
    heap_function.__doc__ = fast.__doc__
    return heap_function


_watch_heaps()
