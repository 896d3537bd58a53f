"""The loopback server of embeddings with OpenAI's batch API beside them, as its reference publishes files and batches: multipart upload, `/v1/batches` with metadata, output and error
files of one JSON object a line, in another order than they came.
"""

from __future__ import annotations

import json
from typing import Any

from aiohttp import web

from tests.fakes.embeddings_server import KEY, EmbeddingsServer


class EmbeddingBatchesServer(EmbeddingsServer):
    """`looks`: at a job until it is over; `ends`: the status that jobs end with, where it is not "completed"; `spoilt`: custom ids whose request fails."""

    def __init__(self, *, looks: int = 2, ends: str = "completed", spoilt: tuple[str, ...] = (), **more: Any) -> None:
        super().__init__(**more)
        self.looks, self.ends, self.spoilt = looks, ends, spoilt
        self.code = "token_limit_exceeded"
        self.files: dict[str, str] = {}
        self.jobs: dict[str, dict[str, Any]] = {}
        self.asked: list[tuple[str, str]] = []

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append((request.method, request.path))
        if request.path.startswith(("/v1/files", "/v1/batches")):
            if request.headers.get("Authorization") != f"Bearer {KEY}":
                return _refused(401, "Incorrect API key provided")
            return await self._files(request) if "/files" in request.path else await self._batches(request)
        return await super()._handle(request)

    async def _files(self, request: web.Request) -> web.Response:
        if request.method == "POST":
            form = await request.post()
            upload = form["file"]
            if form["purpose"] != "batch" or not isinstance(upload, web.FileField):
                return _refused(400, "purpose and file are needed")
            return web.json_response(self._kept(upload.file.read().decode()))
        name = request.path.split("/")[3]
        if name not in self.files:
            return _refused(404, "No such File object")
        if request.method == "DELETE":
            del self.files[name]
            return web.json_response({"id": name, "object": "file", "deleted": True})
        return web.Response(text=self.files[name], content_type="application/octet-stream")

    def _kept(self, text: str) -> dict[str, Any]:
        name = f"file-{len(self.files)}-{len(self.jobs)}-{len(self.asked)}"
        self.files[name] = text
        size = len(text.encode())
        return {
            "id": name,
            "object": "file",
            "bytes": size,
            "created_at": 1,
            "filename": "x.jsonl",
            "purpose": "batch",
            "status": "processed",
        }

    async def _batches(self, request: web.Request) -> web.Response:
        if request.method == "POST":
            body = await request.json()
            wanted = (body["endpoint"], body["completion_window"], body["input_file_id"] in self.files)
            if wanted != ("/v1/embeddings", "24h", True):
                return _refused(400, "endpoint, window or file cannot be used")
            name = f"batch_{len(self.jobs)}"
            counts = {"total": 0, "completed": 0, "failed": 0}
            self.jobs[name] = {
                **body,
                "id": name,
                "object": "batch",
                "created_at": 1,
                "status": "validating",
                "request_counts": counts,
                "looked": 0,
            }
            return web.json_response(self.jobs[name])
        if request.path == "/v1/batches":
            found = list(reversed(self.jobs.values()))
            return web.json_response({"object": "list", "data": found, "has_more": False})
        job = self.jobs.get(request.path.split("/")[3])
        if job is None:
            return _refused(404, "No batch found")
        job["looked"] += 1
        if job["looked"] < self.looks:
            job["status"] = "in_progress"
        elif job["status"] in ("validating", "in_progress"):
            await self._end(job)
        return web.json_response(job)

    async def _end(self, job: dict[str, Any]) -> None:
        job["status"] = self.ends
        if self.ends == "failed":
            job["errors"] = {"object": "list", "data": [{"code": self.code, "message": "words of texts"}]}
            return
        done: list[str] = []
        failed: list[str] = []
        for line in map(json.loads, self.files[job["input_file_id"]].splitlines()):
            assert (line["method"], line["url"]) == ("POST", "/v1/embeddings")
            (failed if line["custom_id"] in self.spoilt else done).append(await self._line(line))
        job["output_file_id"] = self._kept("\n".join(reversed(done)) + "\n")["id"] if done else None
        job["error_file_id"] = self._kept("\n".join(failed) + "\n")["id"] if failed else None
        job["request_counts"] = {"total": len(done) + len(failed), "completed": len(done), "failed": len(failed)}

    async def _line(self, line: dict[str, Any]) -> str:
        body = line["body"]
        if line["custom_id"] in self.spoilt:
            told: dict[str, Any] = {"error": {"message": "This model's maximum context length is 8192 tokens"}}
            response = {"status_code": 400, "request_id": "r", "body": told}
        else:
            (row,) = await self.vectors([body["input"]], body.get("dimensions", self.width))
            item = {"object": "embedding", "index": 0, "embedding": [float(v) for v in row]}
            usage = {"prompt_tokens": 1, "total_tokens": 1}
            told = {"object": "list", "data": [item], "model": body["model"], "usage": usage}
            response = {"status_code": 200, "request_id": "r", "body": told}
        return json.dumps({"id": "batch_req", "custom_id": line["custom_id"], "response": response, "error": None})


def _refused(status: int, message: str) -> web.Response:
    return web.json_response({"error": {"message": message, "type": "invalid_request_error"}}, status=status)
