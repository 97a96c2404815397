"""web: the HTTP API and the web page over one or more collections.

Previous stage: `search` answers; next: a person. The page's sources are in `page/`, built into `static/`.
"""
