"""The local server: documents on disk, one worker for the model, an HTTP API; pages for browsers are ``ui/page``.

Where things are::

    settings.py        Settings: everything that `softlookup serve` can be told, checked once
    app.py             create_app(settings) -> FastAPI; ``app.state.server`` is the ServerState below
    state.py           ServerState: settings, session (model), store, reader, jobs, talks, csrf_token; start(), stop()
    problems.py        errors -> status and body {"error": {message, remedy, type, code}}
    safety.py          middleware: Host, Origin, token, cookie, body limits, response headers; ``require_csrf``
    store.py           DocumentStore: documents/<id>/{original.<ext>, meta.json}; StoredDocument
    reading.py         read_limited(): a document read in a child process with limits -> Document (transfer.py: as JSON)
    documents.py       Documents: add(), open(), describe(), page_png(); parsed documents stay in memory for a while
    jobs.py            Jobs (queue, one worker thread) and Job (state, events, cancel)
    work.py            what a job does: ask, inspect, diagnose; OpenDocuments of the worker, by bytes
    talks.py           Talk: a session of questions on one document, and what was answered (``--history`` keeps it)
    events.py          a job's events as server-sent events; unless_gone(): a client that leaves ends what it asked for
    api_*.py           routes under /v1; openai_api.py the OpenAI-compatible ones; schemas.py the bodies
    serve.py           uvicorn, signals, draining

Nothing here is imported by ``softlookup --help``: fastapi and uvicorn are loaded by ``app`` and ``serve`` only.
"""
