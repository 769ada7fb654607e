"""What the server says over HTTP: the API for programs, the pages for people.

    application     the Litestar application: every handler, and what goes with every answer
    api/            handlers under ``/api/v1``, a module per subject, and the types they answer with
    pages/          handlers of the pages, a module per subject; their templates in templates/
    templates/      the HTML: a layout, macros, and a short file per page
    client          the files of the web client under ``/web``
    compression     answers of text kinds, compressed for those who accept it
    parameters      what handlers are given: the hub, numbers of a query within their bounds
    description     the OpenAPI description, completed
    problems        errors as ``application/problem+json``, with the protocol's stable codes
    replay          the positions of a match from its stored events

A page to add is a template and a handler; `plyhouse.server.web.templates` says how.
"""
