"""export: what a crawl found, for other programs: QGIS, GeoPandas, DuckDB, spreadsheets, web archives, PostGIS.

Previous stage: `search`, which may choose the pages; next: people's own tools. One module a form.
"""
