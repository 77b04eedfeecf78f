"""Writes a servescope token log of what an ASGI application answers.

A line of JSON per request, of the format that docs/tokenlog.md describes. The
module is one file without dependencies, to be copied into a server or gateway with
an OpenAI-compatible API (FastAPI, Starlette, vLLM's api_server, …):

    from tokenlog import TokenLog
    app = TokenLog(app, "requests.jsonl")                # around the whole application
    app.add_middleware(TokenLog, path="requests.jsonl")  # or as FastAPI has it
    vllm serve MODEL --middleware tokenlog.TokenLog      # or as vLLM has it

A request is logged if it is a POST to a path with one of the ends in PATHS, or in
the argument paths: those for embeddings, tokens or models are no requests of a log
of latencies. Of answers that are no completions it has times and no tokens.

It takes times and counts and keeps no text: prompts and answers never reach the
log. A chunk of an answer is stamped when the application sends it. Middleware that
compresses answers belongs around this one.
"""

import asyncio
import json
import os
import time

MAX_BODY = 16 << 20  # bytes of an answer that is not streamed, or of an unfinished event

PATHS = ("/completions", "/responses", "/messages", "/generate")  # of APIs that generate


class TokenLog:
    def __init__(self, app, path="requests.jsonl", paths=PATHS):
        self.app = app
        self.paths = tuple(paths)
        self.file = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o644)

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http" or scope["method"] != "POST" or not scope["path"].rstrip("/").endswith(self.paths):
            return await self.app(scope, receive, send)
        tap = Tap(scope)

        async def receiving():
            message = await receive()
            if message["type"] == "http.disconnect":
                tap.gone = True
            return message

        async def sending(message):
            tap.take(message)
            try:
                await send(message)
            except OSError:
                tap.gone = True
                raise

        failure = None
        try:
            await self.app(scope, receiving, sending)
        except BaseException as error:  # cancelling is one, too
            failure = error
            raise
        finally:
            for line in tap.lines(failure):
                try:
                    os.write(self.file, line)  # one write a line: those of other workers stay apart
                except OSError:
                    pass  # a log that cannot be written stops no server


class Tap:
    """What is known of one request."""

    def __init__(self, scope):
        self.wall, self.begin = time.time_ns(), time.perf_counter_ns()
        headers = {name.lower(): value for name, value in scope.get("headers", ())}
        self.id = headers.get(b"x-request-id", b"").decode("latin-1")
        self.model = ""
        self.status = 0
        self.stream = False
        self.rest = b""
        self.event = None
        self.choices = {}
        self.usage = {}
        self.failed = ""
        self.gone = False  # the client has disconnected
        self.ended = False  # there was an end mark, or a finish_reason
        self.whole = False  # the last part of the answer was sent

    def now(self):
        """Returns the time, which goes on evenly from the arrival whatever is done to the clock."""
        return self.wall + time.perf_counter_ns() - self.begin

    def take(self, message):
        now = self.now()
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = {name.lower(): value for name, value in message.get("headers", ())}
            self.stream = headers.get(b"content-type", b"").startswith(b"text/event-stream")
        if message["type"] != "http.response.body":
            return
        self.whole = not message.get("more_body", False)
        if len(self.rest) < MAX_BODY:
            self.rest += message.get("body", b"")
        while self.stream and b"\n" in self.rest:
            line, self.rest = self.rest.split(b"\n", 1)
            self.line(line.strip(), now)

    def line(self, line, now):
        """Takes a line of a stream of events."""
        if line == b"event: error":
            self.failed = "stream_error"
        if not line.startswith(b"data:"):
            return
        data = line[5:].strip()
        if data == b"[DONE]":
            self.ended = True
            return
        if self.event is None:
            self.event = now
        self.payload(data, now)

    def payload(self, data, now):
        """Takes a chunk, or the body of an answer that is not streamed."""
        try:
            body = json.loads(data)
        except (ValueError, RecursionError):
            return
        if not isinstance(body, dict):
            return
        self.id = self.id or body.get("id") or ""
        self.model = body.get("model") or self.model
        self.usage = table(body.get("usage")) or self.usage
        if body.get("error"):
            self.failed = "stream_error"
        choices = body.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            choice = table(choice)
            delta = table(choice.get("delta"))
            kind = None
            if delta.get("reasoning_content") or delta.get("reasoning"):
                kind = "reasoning"
            elif delta.get("content") or choice.get("text"):
                kind = "content"
            elif delta.get("tool_calls"):
                kind = "tool"
            elif delta.get("refusal"):
                kind = "refusal"
            index = choice.get("index")
            own = self.choices.setdefault(index if isinstance(index, int) else 0, {"times": []})
            if choice.get("finish_reason"):
                own["reason"] = choice["finish_reason"]
                self.ended = True
            if kind:
                own.setdefault("kind", kind)
                own["times"].append(now)
                if kind != "reasoning":
                    own.setdefault("answer", now)

    def lines(self, failure):
        """Returns what there is to say of the request, once it has ended: a line for each choice."""
        now = self.now()
        if not self.stream:
            self.payload(self.rest, now)
        choices = self.choices or {0: {"times": []}}
        for index, choice in choices.items():
            record = {"request_id": self.id, "model": self.model, "stream": self.stream, "prompt_tokens": self.usage.get("prompt_tokens"),
                      "cached_tokens": table(self.usage.get("prompt_tokens_details")).get("cached_tokens"), "finish_reason": choice.get("reason")}
            if len(choices) > 1:  # usage counts the tokens of all
                record.update(choice=index, n_choices=len(choices))
            else:
                record["output_tokens"] = self.usage.get("completion_tokens")
                record["reasoning_tokens"] = table(self.usage.get("completion_tokens_details")).get("reasoning_tokens")
            cancelled = isinstance(failure, asyncio.CancelledError) or self.gone
            if cancelled and not self.ended and not self.whole:
                record["status"] = "aborted"
            elif failure is not None and not cancelled:
                record["error"] = type(failure).__name__
            elif self.status >= 400:
                record["error"] = "http_%d" % self.status
            elif self.failed:
                record["error"] = self.failed
            times = {"arrival": self.wall, "finished": now}
            if self.stream:
                record["token_kind"] = choice.get("kind")
                times.update(first_event=self.event, first_answer_token=choice.get("answer"))
            parts = [json.dumps(name) + ":" + json.dumps(value) for name, value in record.items() if value not in (None, "")]
            parts += ['"%s":%s' % (name, stamp(at)) for name, at in times.items() if at is not None]
            if self.stream and self.choices:  # else it is no answer of which the tokens can be told
                parts.append('"token_timestamps":[%s]' % ",".join(map(stamp, choice["times"])))
            yield ("{" + ",".join(parts) + "}\n").encode()


def table(value):
    """Returns a value that should be an object: whatever an application answers, it must not fail here."""
    return value if isinstance(value, dict) else {}


def stamp(ns):
    """Writes a time as seconds since 1970, to the nanosecond."""
    return "%d.%09d" % divmod(ns, 10**9)
