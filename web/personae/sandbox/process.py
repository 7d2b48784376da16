"""One agent instance as the player sees it: calls go in, results and store changes come out.

Invariants:

- The page decides everything that counts: which bridge method an agent may use, how long a call
  may take, how large a result may be. The worker is a stranger that runs the agent.
- Calls of one process never overlap. A call that fails leaves the store as it was; whatever the
  worker did to its own copy is forgotten. After a deadline, a crash, exhausted memory or an
  illegal message the worker is ended, and the next call starts a fresh one. A module that failed
  to load is not tried again for a minute: who needs it until then hears the same error at once.
- Stores travel as JSON text and are not parsed here.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, get_args

from personae.errors import AgentError
from personae.package.model import AgentProgram, HookEvent, hook_function
from personae.ports import Clock, Sandbox, Wire
from personae.sandbox.bridge_requests import BridgeRequests, Serve
from personae.sandbox.channel import Channel, Message, ProtocolViolation
from personae.sandbox.deadlines import DeadlineWatch, Due
from personae.sandbox.extras import wanted_extras
from personae.sandbox.idle_workers import idle_workers
from personae.sandbox.missing_exports import missing
from personae.sandbox.thrown import Thrown, clean
from personae.written import Written, with_last

CALL_DEADLINE = 8_000
MODEL_CALL_DEADLINE = 120_000
LOAD_DEADLINE = 10_000
BOOT_DEADLINE = 60_000
"""Milliseconds. Booting a runtime does not count as loading; this only ends a boot that hangs."""
RETRY_AFTER = 60_000
"""Milliseconds until a module that failed to load is tried again."""

FUNCTIONS = ("onLoad", "onToolCall", *map(hook_function, get_args(HookEvent)))
"""The functions the contract names; Python and Lua agents export them in snake_case."""

_CODES = {
    "threw": "agent_threw",
    "value": "agent_bad_value",
    "memory": "agent_memory",
    "too_large": "agent_too_large",
    "missing": "agent_function_missing",
    "load": "agent_load_failed",
    "crash": "agent_crashed",
}
_START = "its start"
"""In the place of a function: what a worker does before there is one, or between calls."""
# After these the interpreter is as good as before; after any other failure it is replaced.
_HARMLESS = ("agent_threw", "agent_function_missing")


@dataclass(frozen=True, slots=True)
class StoreText:
    """An agent's store: JSON text of an object, and how often it has changed."""

    version: int
    text: str


@dataclass(frozen=True, slots=True)
class Returned:
    """What a call of an agent gave."""

    value: str | None
    """What the function returned, as text; None for nothing."""
    store: StoreText | None
    """The store after the call; None if it did not change."""
    duration: float
    """Milliseconds from sending the call to having its result."""


Notice = Callable[[AgentProgram, str, str], None]
"""Hears what an agent says beside its results: the kind is toast, log or console; error for what
the player finds wrong with it."""


class AgentProcess:
    """Runs one agent instance. ``close()`` ends it for good."""

    def __init__(
        self, program: AgentProgram, sandbox: Sandbox, clock: Clock, notice: Notice
    ) -> None:
        self.program = program
        self.exports: frozenset[str] = frozenset()
        """Canonical names and command handlers the agent exports; empty until it has loaded."""
        self._files = (program.path, *(library.path for library in program.libraries))
        self._sandbox = sandbox
        self._idle = idle_workers(sandbox)
        self._clock = clock
        self._notify = notice
        self._one_call = asyncio.Lock()
        self._channel = Channel()
        self._channel.close()
        self._wire: Wire | None = None
        self._closed = False
        self._failed: set[str] = set()
        self._examined = False
        self._unloadable: AgentError | None = None
        self._retry_at = 0.0
        self._awaited: asyncio.Future[Message] | None = None
        self._watch = DeadlineWatch(clock, self._expire)
        self._held: str | None = None
        self._calls = 0
        self._requests = BridgeRequests(program.manifest.apis)
        may_call_models = "studio.model" in program.manifest.apis
        self._deadline = MODEL_CALL_DEADLINE if may_call_models else CALL_DEADLINE

    @property
    def state(self) -> str:
        """The channel's state; ``closed`` also before the first start; ``failed`` after a failure.

        It is over when the same function, or the start that failed, has gone well.
        """
        state = self._channel.state
        return "failed" if self._failed and state in ("idle", "closed") else state

    async def start(self) -> frozenset[str]:
        """Starts and loads the agent if it is not running; answers its exports."""
        async with self._one_at_a_time():
            if not self._is_ready():
                await self._make_ready()
            return self.exports

    async def call(
        self,
        function: str,
        arguments: Written,
        *,
        context: Mapping[str, Any],
        store: StoreText,
        serve: Serve,
        verbatim: bool = False,
        deadline: float | None = None,
    ) -> Returned:
        """Calls ``function(*arguments, store, studio, context)`` in the agent.

        ``arguments``: a list. ``serve`` answers what the call asks for. ``verbatim``: the name is a
        command handler's, not one of the contract's. ``deadline`` in milliseconds lowers the
        agent's own. Raises AgentError; the store is then as before.
        """
        async with self._one_at_a_time(function):
            if not self._is_ready():
                await self._make_ready()
            self._requests.belong_to(serve)
            try:
                return await self._run(function, arguments, context, store, verbatim, deadline)
            except AgentError as error:
                self._held = None
                if error.code not in _HARMLESS:
                    self._end()
                raise
            except asyncio.CancelledError:
                self._end()
                raise
            finally:
                self._requests.cancel()

    def close(self) -> None:
        """Ends the worker; what is waiting fails. Harmless when repeated."""
        self._closed = True
        self._end()
        self._fail("agent_closed", "was closed")
        self._watch.stop()
        self._requests.cancel()

    async def ended(self) -> None:
        """Returns when nothing that was begun for the agent's calls goes on."""
        await self._requests.ended()

    @asynccontextmanager
    async def _one_at_a_time(self, function: str = _START) -> AsyncIterator[None]:
        """What runs here waits its turn; ``state`` tells whether it failed.

        Being stopped is no failure.
        """
        async with self._one_call:
            try:
                yield
                self._failed -= {function, _START}
            except AgentError as error:
                if error.code != "agent_closed":
                    self._failed.add(
                        function if error.detail.get("function") == function else _START
                    )
                raise

    async def _run(
        self,
        function: str,
        arguments: Written,
        context: Mapping[str, Any],
        store: StoreText,
        verbatim: bool,
        deadline: float | None,
    ) -> Returned:
        self._calls += 1
        started = self._clock.monotonic()
        text = self._channel.outgoing(
            "call",
            with_last(arguments, context),
            call=self._calls,
            function=function,
            verbatim=verbatim,
        )
        own = self._deadline
        message = await self._ask(
            function,
            min(own, deadline or own),
            text,
            None if store.text == self._held else store.text,
        )
        if message.type == "error":
            raise self._thrown(message, function)
        self._held = store.text if message.store is None else message.store
        changed = None if message.store is None else StoreText(store.version + 1, message.store)
        return Returned(message.fields.get("value"), changed, self._clock.monotonic() - started)

    def _is_ready(self) -> bool:
        """Whether a worker with the agent in it waits for a call."""
        if self._channel.state != "idle":
            return False
        if self.program.language == "python":
            self._idle.used(self, self._release)
        return True

    async def _make_ready(self) -> None:
        if self._closed:
            raise self._error("agent_closed", "is closed")
        await self._start_afresh()
        self._is_ready()

    async def _start_afresh(self) -> None:
        if self._unloadable is not None and self._clock.monotonic() < self._retry_at:
            raise self._unloadable.with_traceback(None)
        self._end()
        try:
            await self._boot()
            await self._load()
        except BaseException:
            self._end()
            raise
        self._unloadable = None

    def _release(self) -> bool:
        """Ends the worker if nothing runs or waits here; the next call starts another."""
        if self._one_call.locked():
            return False
        self._end()
        return True

    async def _boot(self) -> None:
        self._channel = channel = Channel()
        self._awaited = ready = asyncio.get_running_loop().create_future()
        receive = partial(self._receive, channel)
        extras = wanted_extras(self.program)
        self._wire = await self._sandbox.open(self.program.language, receive, extras)
        self._watch.begin("its runtime", BOOT_DEADLINE)
        self._expect(await self._watched(ready), "ready")

    async def _load(self) -> None:
        program = self.program
        text = self._channel.outgoing(
            "load",
            agentId=program.agent_id,
            filename=program.path,
            source=program.source,
            libraries=[{"path": lib.path, "source": lib.source} for lib in program.libraries],
            functions=list(FUNCTIONS),
            handlers=[command.handler for command in program.manifest.commands],
        )
        try:
            loaded = self._expect(await self._ask("its module", LOAD_DEADLINE, text), "loaded")
        except AgentError as error:
            if error.code != "agent_closed":
                self._unloadable = error
                self._retry_at = self._clock.monotonic() + RETRY_AFTER
            raise
        names = [*loaded.fields["functions"], *loaded.fields["handlers"]]
        self.exports = frozenset(name for name in names if isinstance(name, str))
        if not self._examined:
            self._examined = True
            for text in missing(program, self.exports):
                self._notify(program, "error", text)

    def _expect(self, message: Message, type_: str) -> Message:
        if message.type == type_:
            return message
        code = "agent_memory" if message.fields.get("kind") == "memory" else "agent_load_failed"
        thrown = Thrown.read(message.fields, self._files)
        what = f"could not be loaded{thrown.place()}: {thrown.words()}"
        raise self._error(code, what, **thrown.facts(), told=thrown.located())

    def _ask(
        self, function: str, deadline: float, text: str, store: str | None = None
    ) -> Awaitable[Message]:
        """Posts a message; answers with the one that ends what it began."""
        assert self._wire is not None
        self._awaited = answer = asyncio.get_running_loop().create_future()
        self._watch.begin(function, deadline)
        self._wire.post(text, store)
        return self._watched(answer)

    async def _watched(self, answer: asyncio.Future[Message]) -> Message:
        try:
            return await answer
        finally:
            self._watch.end()

    def _expire(self, due: Due) -> None:
        self._end()
        self._fail(
            "agent_deadline",
            f"took longer than {due.milliseconds / 1000:g} s in {due.function} and was stopped",
            function=due.function,
        )

    def _receive(self, channel: Channel, text: str, store: str | None) -> None:
        """Everything a worker says arrives here."""
        if channel is not self._channel or channel.state == "closed":
            return  # the last words of a worker that was ended
        try:
            self._handle(channel.incoming(text, store))
        except ProtocolViolation as violation:
            self._failed.add(_START)
            self._end()
            self._fail("agent_protocol", f"was stopped: its worker sent {violation}")

    def _handle(self, message: Message) -> None:
        if message.type == "notice":
            self._notice(message)
        elif message.type == "request":
            self._check_call(message)
            assert self._wire is not None
            self._requests.accept(message.fields, self._channel, self._wire)
        elif message.type == "crashed":
            self._failed.add(_START)
            self._end()
            thrown = clean(message.fields["message"])
            self._fail("agent_crashed", f"crashed: {thrown}", thrown=thrown)
        else:
            self._check_call(message)
            self._requests.cancel()
            if self._awaited is not None and not self._awaited.done():
                self._awaited.set_result(message)

    def _check_call(self, message: Message) -> None:
        call = message.fields.get("call", self._calls)
        if call != self._calls:
            raise ProtocolViolation(f"a {message.type} for call {call}, which is not running")

    def _notice(self, message: Message) -> None:
        kind, text = message.fields["kind"], message.fields["text"]
        dropped = message.fields.get("dropped")
        if dropped:
            kind, text = "log", f"{dropped} more messages of this call were dropped"
        elif kind not in ("log", "toast", "console"):
            raise ProtocolViolation(f"a notice of kind {kind[:40]!r}")
        self._notify(self.program, kind, clean(text))

    def _end(self) -> None:
        self._channel.close()
        self._held = None
        self._idle.ended(self)
        if self._wire is not None:
            self._wire.terminate()
            self._wire = None

    def _fail(self, code: str, what: str, **detail: Any) -> None:
        if self._awaited is not None and not self._awaited.done():
            self._awaited.set_exception(self._error(code, what, **detail))
            self._awaited.exception()  # whoever waited for it may be gone

    def _thrown(self, message: Message, function: str) -> AgentError:
        code = _CODES.get(message.fields["kind"], "agent_threw")
        thrown = Thrown.read(message.fields, self._files)
        what = f"failed in {function}{thrown.place()}: {thrown.words()}"
        return self._error(code, what, function=function, **thrown.facts(), told=thrown.for_model())

    def _error(self, code: str, what: str, **detail: Any) -> AgentError:
        name = self.program.agent_id
        return AgentError(code, f"Agent “{name}” {what}", agentId=name, **detail)
