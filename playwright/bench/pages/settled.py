"""Runs in the player's page: says when all agents of a conversation have started."""

import js
from personae.player.session import Session

settle = Session.settle


async def settled(self):
    await settle(self)
    states = [self.agents.worker_state(program.agent_id) for program in self.package.agents]
    assert states == ["idle"] * len(states), states
    js.document.documentElement.dataset.settled = str(js.performance.now())


Session.settle = settled
js.document.documentElement.dataset.watched = ""
