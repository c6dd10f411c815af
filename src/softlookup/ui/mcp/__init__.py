"""``softlookup mcp``: tools for other programs' models, over stdio; reads files below given folders.

Where things are::

    roots.py       a path that a client names -> an open file below one of the folders, or a refusal
    shelf.py       Shelf: files read in a limited child process; the parsed documents stay in memory for a while
    parts.py       long lists in parts, so that no result exceeds a limit
    outline.py     read_document: the clause tree, one clause with what to read with it; coverage (rows.py: its parts)
    claim.py       check_clause without the model: is there such a clause, do the words stand there
    seen.py        check_clause with the model: does the question look at that place
    claim_words.py one sentence for each verdict, in English and Chinese
    texts.py       results as short text, with what a document says marked as quoted
    schemas.py     arguments and results as JSON schemas; shown() makes invisible characters visible
    calls.py       Calls: what each tool does; progress and cancellation
    server.py      the protocol, with the official SDK (the extra `softlookup[mcp]`), which only this module imports

Documents are opened, questions queued and answered by the parts of the local server (``ui/server``).
"""
