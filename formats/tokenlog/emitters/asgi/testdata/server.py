"""Serves answers as an OpenAI-compatible server does, logged by the middleware:
server.py own|uvicorn|fastapi LOG. It prints its port, and ends with its input.

own is a server of a few lines, for where there is none.
"""

import asyncio
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from tokenlog import TokenLog  # noqa: E402

UNTIL_FIRST, BETWEEN = 0.06, 0.015


ODD = [{"choices": ["x"], "usage": [1]}, {"choices": 7, "usage": 3}, {"choices": [{"index": [0], "delta": "x"}]}, {"choices": [None]}]


async def stream(kind):
    """Yields the events of an answer, with pauses."""
    base = {"id": "c", "object": "chat.completion.chunk", "model": "m"}

    def delta(index=0, reason=None, **delta):
        return {**base, "choices": [{"index": index, "delta": delta, "finish_reason": reason}]}

    if kind == "other":  # no completion
        yield {"type": "response.output_text.delta", "delta": "secret"}
        return
    yield delta(role="assistant", content="")
    await asyncio.sleep(UNTIL_FIRST)
    if kind == "choices":
        yield delta(0, content="secret")
        yield delta(1, content="secret")
        await asyncio.sleep(BETWEEN)
        yield delta(1, content="secret")
        yield delta(1, "stop")
    elif kind == "odd":  # fields of types that others do not use
        for o in ODD:
            yield {**base, **o}
        yield delta(content=[{"type": "text", "text": "secret"}], refusal={})
        await asyncio.sleep(BETWEEN)
        yield delta(content="secret", tool_calls=[])
    elif kind == "reasoning":
        yield delta(reasoning_content="secret")
        await asyncio.sleep(BETWEEN)
        yield delta(content="secret")
    elif kind == "error":
        yield delta(content="secret")
        yield {"error": {"message": "secret"}}
        return
    elif kind == "panic":
        yield delta(content="secret")
        raise RuntimeError("secret")
    elif kind == "gone":
        while True:
            yield delta(content="secret")
            await asyncio.sleep(BETWEEN)
    else:
        for i in range(4):
            if i:
                await asyncio.sleep(BETWEEN)
            yield delta(content="secret")
    yield delta(0, "stop")
    yield {**base, "choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 2}}}
    yield None


def event(o):
    return b"data: " + (b"[DONE]" if o is None else json.dumps(o).encode()) + b"\n\n"


WHOLE = {"id": "c", "model": "m", "choices": [{"index": 0, "message": {"content": "secret"}, "finish_reason": "length"}],
         "usage": {"prompt_tokens": 5, "completion_tokens": 4}}


async def plain(scope, receive, send):
    """The application, as ASGI itself."""
    if scope["type"] != "http":
        return
    kind = dict(scope["headers"])[b"x-request-id"].decode().split("-")[0]
    while (await receive()).get("more_body"):
        pass

    async def head(status, form):
        await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", form)]})

    if kind in ("whole", "refused"):
        await asyncio.sleep(UNTIL_FIRST)
        body, status = (WHOLE, 200) if kind == "whole" else ({"error": {"message": "secret"}}, 429)
        await head(status, b"application/json")
        return await send({"type": "http.response.body", "body": json.dumps(body).encode()})
    await head(200, b"text/event-stream; charset=utf-8")
    left = asyncio.ensure_future(receive())  # says when the client has gone
    async for o in stream(kind):
        if left.done():
            return
        text = event(o)
        await send({"type": "http.response.body", "body": text[:9], "more_body": True})  # an event may come in parts
        await send({"type": "http.response.body", "body": text[9:], "more_body": True})
    left.cancel()
    await send({"type": "http.response.body"})


def fastapi():
    """The application, as FastAPI has it."""
    from fastapi import FastAPI, Request
    from fastapi.responses import JSONResponse, StreamingResponse

    app = FastAPI()

    @app.post("/v1/chat/completions")
    async def chat(request: Request):
        kind = request.headers["x-request-id"].split("-")[0]
        if kind in ("whole", "refused"):
            await asyncio.sleep(UNTIL_FIRST)
            return JSONResponse(WHOLE) if kind == "whole" else JSONResponse({"error": {"message": "secret"}}, 429)

        async def body():
            async for o in stream(kind):
                yield event(o)

        return StreamingResponse(body(), media_type="text/event-stream")

    return app


async def connection(app, reader, writer):
    """Answers a request over HTTP."""
    head = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
    headers = [tuple(part.strip() for part in line.split(b":", 1)) for line in head[1:] if line]
    headers = [(name.lower(), value) for name, value in headers]
    body = await reader.readexactly(int(dict(headers).get(b"content-length", 0)))
    given = False

    async def receive():
        nonlocal given
        if not given:
            given = True
            return {"type": "http.request", "body": body}
        while await reader.read(1 << 16):
            pass
        return {"type": "http.disconnect"}

    async def send(message):
        if message["type"] == "http.response.start":
            lines = [b"HTTP/1.1 %d x" % message["status"], b"connection: close"] + [b": ".join(h) for h in message["headers"]]
            writer.write(b"\r\n".join(lines) + b"\r\n\r\n")
        writer.write(message.get("body", b""))
        await writer.drain()

    scope = {"type": "http", "method": head[0].split()[0].decode(), "path": head[0].split()[1].decode(), "headers": headers}
    try:
        await app(scope, receive, send)
    except Exception:
        pass
    finally:
        writer.close()


async def own(app):
    server = await asyncio.start_server(lambda r, w: connection(app, r, w), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    server.close()
    for _ in range(100):  # what is still being answered
        if len(asyncio.all_tasks()) == 1:
            break
        await asyncio.sleep(0.02)


async def uvicorn(app):
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="critical", lifespan="off"))
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    print(server.servers[0].sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    server.should_exit = True
    await task


how, log = sys.argv[1:]
app = TokenLog(plain, log)
if how == "fastapi":
    app = fastapi()
    app.add_middleware(TokenLog, path=log)
asyncio.run(own(app) if how == "own" else uvicorn(app))
