"""The HTML of the pages, as Jinja templates.

    layout.html       what all pages have: head, navigation, and blocks for the rest
    tables.html       macros: tables of matches and standings
    words.html        macros: a game's title, a link to a match, a time
    the other files   one page each

A page to add is a short template, and a handler in `plyhouse.server.web.pages`::

    {% extends "layout.html" %}
    {% set here = "/competitions" %}        the link at the top that is marked, if any
    {% set script = "page_refresh.js" %}            a module of the web client, if any
    {% block title %}Competitions - Plyhouse{% endblock %}
    {% block main %}
    <h1>Competitions</h1>
    {% endblock %}

Every value is escaped where it is written.  The parts of a page that are marked ``data-live`` are
kept up to date by ``page_refresh.js``, which asks for the page again; they need an id.
"""
