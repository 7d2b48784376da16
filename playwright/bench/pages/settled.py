"""Runs in the player's page: says when all agents of a conversation have started."""

import js
from personae.player.session import Session

catch_up = Session.catch_up


async def settled(self):
    await catch_up(self)
    seat = self.first_seat
    states = [seat.agents.worker_state(program.agent_id) for program in seat.package.agents]
    assert states == ["idle"] * len(states), states
    js.document.documentElement.dataset.settled = str(js.performance.now())


Session.catch_up = settled
js.document.documentElement.dataset.watched = ""
