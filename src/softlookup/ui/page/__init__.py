"""The local web page: HTML for browsers over the same store, worker and sessions as the API.

Where things are::

    routes.py          ``router``: everything below put together, for ``create_app``
    routes_home.py     documents: list, upload, delete; log in; settings; static files
    routes_document.py one document: the page, pieces of text, pages of a PDF, branches of the clause tree
    routes_ask.py      ask, diagnose, follow, cancel, compare, report
    state.py           PageState: what the page keeps in memory: shown documents, page images, running questions
    shown.py           ShownDocument: a document cut into parts that are loaded when they are scrolled to
    sheets.py          a page of a PDF as SVG: image, boxes of citations, places of clauses; images are drawn in batches
    answers.py         an answer and a comparison as the templates show them
    expect.py          a clause that was clicked -> the words by which ``diagnose`` knows it
    preferences.py     language and colours of a request
    rendering.py       templates -> responses; problems.py: errors as pages
    words.py           labels in English and Chinese
"""
