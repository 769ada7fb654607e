"""The server over HTTP: the API for programs and the pages for people.

    application      the Litestar application: all handlers, and parts of every answer; the OpenAPI
                     description, completed
    api/             handlers under ``/api/v1`` and the types of their answers, by subject
    pages/           handlers of the pages, a module per subject; their templates in templates/
    templates/       the HTML: a layout, macros, and a short file per page
    plots            plots as shapes, with tables of their numbers
    client           the files of the web client under ``/web``
    bundle           the modules of a page as one script, all sheets as one
    compression      answers of text kinds, compressed for those who accept it
    parameters       what handlers are given: services, numbers of a query within their bounds
    error_responses  errors as ``application/problem+json``, with the protocol's stable codes; the
                     same errors as pages, for people
    security_headers headers that every answer has
    request_limits   the cost of requests, and the allowance of each address; plies get the event
                     loop before requests
    forwarding       requests that the leader of a cluster answers
    metrics          what Prometheus reads at ``/metrics``; the same of all workers of one
                     supervisor
    replay           the positions of a match from its stored events; positions in which the cards
                     of all seats lie open

A page to add is a template and a handler; `plyhouse.server.web.templates` says how.
"""
