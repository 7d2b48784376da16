"""Pictures in a reply, however they are sent; and what is no picture a page may show."""

from __future__ import annotations

import json
from typing import Any

import pytest
from personae.errors import ModelError
from personae.llm.stream.reply import Reply
from personae.llm.stream.response_body import ReplyBody

from tests.llm.fakes import chunk, sse

DATA = "data:image/png;base64,iVBORw0KGgo="
AT = {"type": "image_url", "image_url": {"url": DATA}}


def read(data: bytes) -> Reply:
    body = ReplyBody("https://here.example", 200)
    list(body.feed(data))
    *_, reply = body.finish()
    assert isinstance(reply, Reply)
    return reply


@pytest.mark.parametrize(
    ("delta", "urls"),
    [
        ({"images": [AT]}, (DATA,)),
        ({"images": [{**AT, "index": 0}, AT]}, (DATA,)),
        ({"images": [DATA, "https://pics.example/a.png"]}, (DATA, "https://pics.example/a.png")),
        ({"content": [AT, {"type": "text", "text": ""}]}, (DATA,)),
        ({"content": [{"type": "output_image", "image_url": DATA}]}, (DATA,)),
        ({"images": [{"b64_json": "iVBORw0KGgo="}]}, (DATA,)),
        (
            {
                "content": [
                    {"type": "image", "source": {"media_type": "image/webp", "data": "aGk="}}
                ]
            },
            ("data:image/webp;base64,aGk=",),
        ),
        ({"image": {"url": DATA}}, (DATA,)),
    ],
)
def test_a_reply_of_pictures_alone_is_a_reply(delta: dict[str, Any], urls: tuple[str, ...]) -> None:
    reply = read(sse(chunk(delta), chunk(finish="stop")))
    assert (reply.text, reply.pictures, reply.cut) == ("", urls, None)
    message = {"choices": [{"message": {"role": "assistant", **delta}, "finish_reason": "stop"}]}
    assert read(json.dumps(message).encode()).pictures == urls


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:text/html;base64,aGk=",
        "data:image/svg+xml;base64,aGk=",
        "data:image/png;base64,a) ![x](https://spy.example/",
        "https://pics.example/a.png) [x](javascript:1",
        "//pics.example/a.png",
        "",
    ],
)
def test_what_a_page_may_not_show_is_no_picture(url: str) -> None:
    with pytest.raises(ModelError, match="answered with nothing"):
        read(sse(chunk({"images": [{"image_url": {"url": url}}]}), chunk(finish="stop")))
